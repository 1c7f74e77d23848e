package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// Verify tries the hook of every agent, says what it found, and reports whether all of them are as
// they should be.
func (o *Options) Verify(ctx context.Context, found []*agents.Agent) (ok bool, err error) {
	around, err := o.surroundings()
	if err != nil {
		return false, err
	}
	failed := len(found) == 0
	if failed {
		fmt.Fprintf(o.Out, "No agent was found in %s.\n", present.SafeLine(o.below(around)))
	}
	for _, a := range found {
		t := settings.TargetOf(a)
		proven, err := o.verifyAgent(ctx, t, o.path(t, around), around)
		if err != nil {
			text := strings.ReplaceAll(present.Safe(err.Error()), "\t", "    ")
			fmt.Fprintf(o.Out, "%s: NOT protected: %s\n", a.Title, text)
		}
		failed = failed || err != nil || !proven
	}
	WarnRepository(o.Err, found...)
	return !failed, nil
}

// verifyAgent sends the canaries through each hook that the settings name, and says whether
// the agent calls them.
func (o *Options) verifyAgent(ctx context.Context, t settings.Target, path string,
	around settings.Surroundings) (proven bool, err error) {
	e, err := examine(ctx, t, path, around)
	if err != nil {
		return false, err
	}
	title := t.Agent.Title
	switch {
	case e.proven() && !t.Agent.Tried():
		fmt.Fprintf(o.Out, "%s: installed, not tried: the hook %s, configured in %s. Nobody has run assent with %s itself.\n",
			title, e.answers, present.SafeLine(path), title)
	case e.proven():
		fmt.Fprintf(o.Out, "%s: proven: the hook %s. Configured in %s.\n", title, e.answers,
			present.SafeLine(path))
	default:
		fmt.Fprintf(o.Out, "%s: NOT proven: the hook %s, and %s does not call it, or may not:\n", title, e.answers,
			title)
		sayFindings(o.Out, e.findings)
	}
	fmt.Fprintf(o.Out, "  If the hook is killed: %s.\n", e.ifDead)
	return e.proven(), nil
}

// An examination is what the canaries and the settings say about an agent whose settings name a
// hook that answers as it should.
type examination struct {
	answers  string // what the hook does
	findings []settings.Finding
	ifDead   string // what a hook means that is killed
}

func (e examination) proven() bool { return len(e.findings) == 0 }

// examine sends the canaries through each hook that the settings name, and reads what the agent
// would read. The error says why the agent is not protected.
func examine(ctx context.Context, t settings.Target, path string,
	around settings.Surroundings) (e examination, err error) {
	text, _, err := settings.Read(path)
	if err != nil {
		return e, err
	}
	if text == nil {
		return e, fmt.Errorf("%s does not exist; run 'assent install %s'", path, t.Agent.Name)
	}
	commands, err := t.Commands(text)
	if err != nil {
		return e, fmt.Errorf("%s: %w", path, err)
	}
	if len(commands) == 0 {
		return e, fmt.Errorf("%s has no hook of assent's; run 'assent install %s'", path, t.Agent.Name)
	}
	places, err := setup.Here("")
	if err != nil {
		return e, err
	}
	user, err := places.User()
	if err != nil {
		return e, err
	}
	asks := asked(t.Agent, user)
	for _, argv := range commands {
		if err := tryHook(ctx, t.Agent, argv, asks); err != nil {
			return e, err
		}
	}
	e.answers = "allows, asks and denies as it should"
	if asks == agents.Deny {
		e.answers = "allows and denies as it should, and denies what must be asked"
	}
	e.findings, e.ifDead = t.Inspect(around, path), t.IfDead(text)
	return e, nil
}

// asked is what an agent is told where no inbox is open and somebody must be asked: Codex
// has no ask, and the user's config may leave nobody to be asked.
func asked(a *agents.Agent, user *config.User) agents.Verdict {
	if !a.CanAsk() || user.Mode == policy.ModeStrict || user.Hook.Ask == "inbox" || user.Hook.Ask == "deny" {
		return agents.Deny
	}
	return agents.Ask
}

// canaryPolicy denies one file. It is not trusted, and need not be to deny.
const canaryPolicy = "rules:\n  - deny write_file(" + agents.CanaryDenied + ")\n"

// tryHook sends the canaries to one command, in a folder and with a state of their own.
// Asks is what is answered where somebody must be asked.
func tryHook(ctx context.Context, a *agents.Agent, argv []string, asks agents.Verdict) (err error) {
	top, err := os.MkdirTemp("", "assent-verify-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	dir := filepath.Join(top, "project")
	conf := filepath.Join(dir, config.ProjectFolder, "policy.yaml")
	if err := os.MkdirAll(filepath.Dir(conf), 0o700); err != nil {
		return err
	}
	canaryFile := filepath.Join(dir, agents.CanaryFile)
	for file, content := range map[string]string{conf: canaryPolicy, canaryFile: "canary\n"} {
		if err := os.WriteFile(file, []byte(content), fs.FileMode(0o600)); err != nil {
			return err
		}
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		why := err
		if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
			why = inner.Err // the path is named already
		}
		return fmt.Errorf("the settings name the program %s, which cannot be started: %w; "+
			"run 'assent uninstall %s', then 'assent install %s'", argv[0], why, a.Name, a.Name)
	}
	canaries, err := a.Canaries(dir)
	if err != nil {
		return err
	}
	for _, canary := range canaries {
		withState := append(argv[:len(argv):len(argv)], "--state", filepath.Join(top, "state"))
		reply := startHook(ctx, withState, canary.Input, dir, a.Variables(dir))
		got, err := a.Understood(reply)
		if err != nil {
			return fmt.Errorf("%s: %w: %s", canary.Name, err, strings.Join(strings.Fields(reply.Stderr), " "))
		}
		want := canary.Want
		if want == agents.Ask {
			want = asks
		}
		if got != want {
			return fmt.Errorf("%s: the answer is %s, and not %s: %s%s",
				canary.Name, verdictWord(got), verdictWord(want), reply.Stdout, reply.Stderr)
		}
	}
	return nil
}

func verdictWord(v agents.Verdict) string {
	return map[agents.Verdict]string{
		agents.Allow: "allow", agents.Ask: "ask", agents.Deny: "deny", agents.Nothing: "nothing",
	}[v]
}

// startHook starts a hook as an agent does that works in a folder.
func startHook(ctx context.Context, argv []string, input []byte, dir string, variables []string) agents.Reply {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	p := exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.Dir, p.Env = dir, append(os.Environ(), variables...)
	p.Stdin, p.Stdout, p.Stderr = bytes.NewReader(input), &out, &errs
	err := p.Run()
	reply := agents.Reply{Stdout: out.Bytes(), Stderr: errs.String(), Exit: p.ProcessState.ExitCode()}
	if err != nil && reply.Stderr == "" {
		reply.Stderr = err.Error()
	}
	return reply
}
