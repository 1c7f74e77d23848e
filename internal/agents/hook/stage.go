package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/permissions"
	"github.com/assent-dev/assent/internal/agents/staged"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// onStage answers a command by having the keeper of the session judge it, and run it when the
// agent hands its token back. It reports whether it did: some commands cannot be replaced, and are
// judged as the text that the agent runs.
func (a *answering) onStage(ctx context.Context, e agents.Event,
	want agents.Want) (answer agents.Answer, done bool, err error) {
	if answer, ours, err := a.ownText(e, want); ours || err != nil {
		return answer, ours, err
	}
	s, err := a.stageSetup(ctx, e, want)
	if s == nil || err != nil {
		return answer, false, err
	}
	memo, err := a.openMemo(want.Call)
	if err != nil {
		return answer, false, err
	}
	defer memo.close()
	verdict, why, err := a.ownLists(s.Dir, e, want)
	switch {
	case err != nil: // the agent itself may know what they mean
		a.note = "the command is not replaced, because " + a.Agent.Title +
			"'s own lists would not see it: " + err.Error()
		return answer, false, nil
	case verdict == permissions.Deny:
		answer = agents.Answer{Reason: why}
		return answer, true, errors.Join(a.denied(ctx, e, want, why), memo.keep(e, answer, a.Clock()))
	case verdict == permissions.Ask:
		want.Person = why
	}
	if known, ok := memo.answered(e, a.began); ok && (want.Person == "" || known.Verdict == agents.Deny) {
		return known, true, memo.keep(e, known, a.Clock())
	}
	conn, err := a.reachKeeper(ctx, e, s)
	if conn == nil || err != nil {
		return answer, false, err
	}
	defer conn.Close()
	v, err := staged.Ask(ctx, conn, a.question(ctx, e, want, s.Person, memo))
	if err != nil {
		return answer, false, err
	}
	if answer, err = a.replaced(e, want, v); err != nil {
		return answer, false, err
	}
	memo.Deferred, memo.Replaced = v.Saved, answer.Input != nil
	answer.Reason = present.Safe(answer.Reason)
	return answer, true, memo.keep(e, answer, a.Clock())
}

// stageSetup is what holds for a command that can be replaced; nil if it cannot, or is not to be.
func (a *answering) stageSetup(ctx context.Context, e agents.Event, want agents.Want) (*setup.Setup, error) {
	if len(a.Keeper) == 0 || e.Plan || !a.Agent.Replaces(e, want, a.Chain, a.Environ) {
		return nil, nil
	}
	user, err := config.ReadUser(a.Places.Config)
	if err != nil || user.User.Hook.Shell != config.HookStage || user.User.Hook.Observe || a.Observe {
		return nil, err
	}
	project, note, err := a.project(e)
	if err != nil {
		return nil, err
	}
	a.note = note
	if project == "/" {
		a.note = "the project is /, which no sandbox takes; commands are judged by their text"
		return nil, nil
	}
	s, err := setup.Resolve(ctx, setup.Order{Places: a.Places, Dir: project, Default: true, User: user, NoSandbox: a.noSandbox})
	if err != nil || !s.HasShell {
		return nil, err // without a shell the judgement of the text says so
	}
	return s, nil
}

// reachKeeper connects to the keeper of the session, and starts it if need be; nil if it has no
// sandbox to run commands in.
func (a *answering) reachKeeper(ctx context.Context, e agents.Event, s *setup.Setup) (*net.UnixConn, error) {
	key := a.keeperKey(e, s, s.Dir)
	if why := a.notStaged(e, key); why != "" {
		a.note = why
		return nil, nil
	}
	conn, err := staged.Reach(ctx, a.Places.State, key, s.Dir, a.Environ, a.keeperProgram(e, key, s.Dir))
	if errors.Is(err, staged.ErrNoSandbox) {
		a.note = err.Error() + "; commands are judged by their text"
		return nil, a.keepNotStaged(e, key, a.note)
	}
	if err != nil {
		return nil, err
	}
	if err := a.noteKeeper(e, key); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// ownLists says what the agent's own permission lists have on a command: they do not see one that
// was replaced.
func (a *answering) ownLists(project string, e agents.Event,
	want agents.Want) (v permissions.Verdict, why string, err error) {
	var in struct{ Command, Cwd string }
	if err := json.Unmarshal(want.Call.Arguments, &in); err != nil {
		return v, "", err
	}
	l, err := a.lists(project, e)
	if err != nil {
		return v, "", err
	}
	// A list that has a word on the text which takes its place, such as one of all commands that are
	// free, is not meant for that.
	if ours, why := l.Judge(staged.Text(a.Exec, "", "TOKEN", "", false), in.Cwd); ours != permissions.None {
		return v, "", errors.New("they have a word on the text that would take its place: " + why)
	}
	v, why = l.Judge(in.Command, in.Cwd)
	switch v {
	case permissions.Deny:
		why = a.Agent.Title + " denies it: " + why
	case permissions.Ask:
		why = a.Agent.Title + " asks about it: " + why
	}
	return v, why, nil
}

// denied records that the agent's own list denied a command.
func (a *answering) denied(ctx context.Context, e agents.Event, want agents.Want, why string) error {
	const state = policy.StateAutoDenied
	return a.record(ctx, e, want.Call, approval.Event{
		Kind: approval.EventEnded, State: state, Stage: approval.StageAfter(state), Why: why,
	})
}

// ownText answers an agent that asks whether it may run the text which was handed to it: its own
// prompt would ask about that, or its own sandbox is to be left.
func (a *answering) ownText(e agents.Event, want agents.Want) (agents.Answer, bool, error) {
	if e.Moment != agents.Asking || want.Call.Connector != "" || want.Call.Tool != policy.ActShell {
		return agents.Answer{}, false, nil
	}
	m, err := a.lastAnswer(want.Call)
	if err != nil || m == nil || !m.Staged || a.began.Sub(m.At) > replayWithin {
		return agents.Answer{}, false, err
	}
	return m.Answer, true, nil
}

// question is what the keeper is asked.
func (a *answering) question(ctx context.Context, e agents.Event, want agents.Want, user *config.User,
	memo *memo) staged.Question {
	return staged.Question{
		Call: want.Call, Folder: e.Dir, Person: want.Person, Inbox: user.Hook.Ask != "deny",
		Prompt: a.leavesToPrompt(e, user.Hook.Ask, false), PromptPerson: a.leavesToPrompt(e, user.Hook.Ask, true),
		Defer: (a.Defer || user.Hook.Ask == "defer") && user.Hook.Ask != "deny" && a.Agent.Defers(e, a.Environ),
		Wait:  a.wait(ctx, user.Hook.Deadline), Saved: memo.deferred(e),
	}
}

// replaced is what the agent is told: to run the text that stands for the command, or why not.
func (a *answering) replaced(e agents.Event, want agents.Want, v staged.Verdict) (agents.Answer, error) {
	switch {
	case v.Saved != nil:
		reason := "assent asks: " + v.Reason + "; answer it with 'assent pending', then resume"
		return agents.Answer{Verdict: agents.Defer, Reason: reason}, nil
	case v.Token == "":
		return agents.Answer{Reason: v.Reason}, nil
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(want.Call.Arguments, &in); err != nil {
		return agents.Answer{}, err
	}
	var command string
	if err := json.Unmarshal(in["command"], &command); err != nil {
		return agents.Answer{}, err
	}
	state := ""
	if a.Places.OtherState != "" {
		state = a.Places.State
	}
	text, err := json.Marshal(staged.Text(a.Exec, state, v.Token, command, v.Moves && a.Agent.KeepsFolder()))
	if err != nil {
		return agents.Answer{}, err
	}
	in["command"] = text
	changed, err := json.Marshal(in)
	if err != nil {
		return agents.Answer{}, err
	}
	inside := "; in assent's sandbox: " + present.SafeLine(command)
	answer := agents.Answer{Verdict: agents.Allow, Reason: v.Reason + inside}
	if v.Prompt {
		answer = agents.Answer{Verdict: agents.Ask, Reason: "assent asks: " + v.Reason + inside}
	}
	if answer.Input, err = want.Changed(e, changed); err != nil {
		return agents.Answer{}, err
	}
	want.Call.Arguments = changed
	note, err := a.openMemo(want.Call)
	if err != nil {
		return agents.Answer{}, err
	}
	defer note.close()
	note.Staged = true
	return answer, note.keep(e, agents.Answer{Verdict: answer.Verdict, Reason: answer.Reason}, a.Clock())
}

// keeperKey names the keeper of an event: another session, project, agent's process, environment,
// or anything else in the files that hold has another. So has a folder that took the project's
// place: a keeper holds on to the one that it began with.
func (a *answering) keeperKey(e agents.Event, s *setup.Setup, project string) string {
	pid, start := a.agentProcess()
	parts := []string{e.Session, project, fmt.Sprint(pid, start)}
	if info, err := os.Stat(project); err == nil {
		if there, ok := info.Sys().(*syscall.Stat_t); ok {
			parts = append(parts, fmt.Sprint(there.Dev, there.Ino))
		}
	}
	parts = append(parts, runner.NewEnvironment(a.Environ, s.Shell.Env).Entries()...)
	parts = append(parts, s.Stamp()...)
	return hash(append(parts, a.Keeper[0], setup.FileStamp(a.Keeper[0]))...)
}

// agentProcess is the process of the agent: of those that led to the hook the nearest with its
// name, else the nearest that does not just start others: a keeper that ended with the script around
// a hook would take its tokens with it. 0 if it is not known.
func (a *answering) agentProcess() (pid int, start string) {
	if a.Chain == nil {
		return 0, ""
	}
	all := a.Chain()
	name, _, _ := strings.Cut(a.Agent.Name, "-")
	i := slices.IndexFunc(all, func(p agents.Process) bool { return hasName(p.Args, name) })
	if i < 0 {
		i = slices.IndexFunc(all, func(p agents.Process) bool {
			return len(p.Args) > 0 && !slices.Contains(starters, programName(p.Args[0]))
		})
	}
	if i < 0 {
		return 0, ""
	}
	return all[i].Pid, all[i].Start
}

// starters are programs that start others and end with them.
var starters = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "timeout", "env", "nice",
	"ionice", "nohup", "setsid", "stdbuf"}

// hasName reports whether a command line is that of a program whose name begins so, alone or as a
// script.
func hasName(args []string, name string) bool {
	if len(args) > 1 && slices.Contains([]string{"node", "nodejs", "bun", "deno"}, programName(args[0])) {
		args = args[1:]
		for len(args) > 1 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
	}
	return len(args) > 0 && strings.HasPrefix(programName(args[0]), name)
}

// programName is the name of a program; that of a login shell has a dash before it.
func programName(arg string) string { return strings.TrimPrefix(filepath.Base(arg), "-") }

// keeperProgram is the command line that starts the keeper of an event.
func (a *answering) keeperProgram(e agents.Event, key, project string) []string {
	pid, _ := a.agentProcess()
	args := append(slices.Clone(a.Keeper), "--key", key, "--session", e.Session, "--project", project, "--agent",
		a.Agent.Name, "--pid", fmt.Sprint(pid))
	if a.Places.OtherState != "" {
		args = append(args, "--state", a.Places.State)
	}
	if own := loweredFrom.Load(); own > 0 {
		args = append(args, "--data", fmt.Sprint(own))
	}
	return args
}

// Files in the folder of a session, beside its memos.
const (
	keeperPrefix    = "keeper-"
	notStagedPrefix = "unheld-"
)

// notStaged says why commands of the event are not staged, if that was found out before.
func (a *answering) notStaged(e agents.Event, key string) string {
	why, err := os.ReadFile(filepath.Join(memoFolder(a.Places.State, e.Session), notStagedPrefix+key))
	if err != nil {
		return ""
	}
	return string(why)
}

func (a *answering) keepNotStaged(e agents.Event, key, why string) error {
	return os.WriteFile(filepath.Join(memoFolder(a.Places.State, e.Session), notStagedPrefix+key), []byte(why), 0o600)
}

// noteKeeper notes that the session has a keeper, which ends with it.
func (a *answering) noteKeeper(e agents.Event, key string) error {
	name := filepath.Join(memoFolder(a.Places.State, e.Session), keeperPrefix+key)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// leaveKeepers ends the keepers of a session.
func (a *answering) leaveKeepers(ctx context.Context, e agents.Event) error {
	files, err := os.ReadDir(memoFolder(a.Places.State, e.Session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		if key, ok := strings.CutPrefix(f.Name(), keeperPrefix); ok {
			limited, cancel := context.WithTimeout(ctx, time.Second)
			err = errors.Join(err, staged.Leave(limited, a.Places.State, key))
			cancel()
		}
	}
	return err
}

// isMemo reports whether a file in the folder of a session is a memo.
func isMemo(name string) bool {
	return name != projectName && !strings.HasPrefix(name, keeperPrefix) && !strings.HasPrefix(name, notStagedPrefix)
}
