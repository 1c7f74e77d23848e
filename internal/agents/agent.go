package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
)

// An Agent is one whose hooks we answer.
type Agent struct {
	// Name is how people call it: claude-code, codex, gemini, cursor.
	Name string
	// Title is its own name.
	Title string
	// Patience is how long the agent waits for a hook of which nobody said otherwise,
	// with time to spare for the answer.
	Patience time.Duration

	// prompts are the hooks that can leave the question to the agent's own prompt.
	prompts []string
	// defers are the hooks that can end the run, to be asked again when it is resumed.
	defers  []string
	moments map[string]Moment // of its hooks, by their names
	read    func(object) (Event, error)
	reply   func(Event, Answer) Reply
	tools   map[string]translator
	like    map[string]string // its tools that do what ours do, by our names
	// project is the variable in which it tells its hooks the folder of the project.
	project string
	// hooksInProject says that it starts its hooks in the folder of the project, whatever
	// folder the call runs in.
	hooksInProject bool
	// unseen reports whether nobody would see a question that a hook leaves to the agent, as a
	// process of the chain that led to the hook; nil for one where this is not known.
	unseen func(chain []Process, environ []string) bool
	// lifts says that a question of a hook takes the place of what the agent's own lists deny: it
	// runs the call if its user says yes.
	lifts bool
	// asksToLeave says that it asks its user about a command that is to run outside its own
	// sandbox. Which commands these are is not in what it says before.
	asksToLeave bool
	// replaces says that it takes another command from the hook that is asked before, and
	// keepsFolder that its shell is in the folder which the last command went to.
	replaces, keepsFolder bool
	// sandboxed reports whether the agent, as a process of the chain that led to the hook, may run
	// commands in a sandbox of its own; nil for one that does not.
	sandboxed func(chain []Process, environ []string) bool
	// usersShell says that it runs commands with the shell of the user; others use bash.
	usersShell bool
	// untried says that assent was never run with the agent itself: its contract is what is written about it.
	untried bool
}

// Tried reports whether assent was run with the agent itself.
func (a *Agent) Tried() bool { return !a.untried }

// LongestWait is how long an agent waits for a hook at most, as assent install writes its settings, with time to spare for the
// answer. What takes longer is answered to nobody, and some agents then run the call.
const LongestWait = 590 * time.Second

var all = []*Agent{&claudeCode, &codex, &gemini, &cursor}

// All returns the agents.
func All() []*Agent { return all }

// also are further names that people have for the agents.
var also = map[string]string{
	"claude": "claude-code", "claudecode": "claude-code", "claude code": "claude-code", "cc": "claude-code",
	"openai-codex": "codex", "codex-cli": "codex", "gemini-cli": "gemini", "gemini cli": "gemini",
	"cursor-agent": "cursor", "cursor-cli": "cursor",
}

// Named returns the agent of a name, which may be another one that people use: claude for claude-code.
func Named(name string) (*Agent, error) {
	known := strings.ToLower(name)
	known = cmp.Or(also[known], known)
	var names []string
	for _, a := range all {
		if a.Name == known {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return nil, fmt.Errorf("unknown agent %q: use %s or %s", name,
		strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}

// Read reads what the agent says. The error names what is missing.
func (a *Agent) Read(input []byte) (Event, error) {
	o, err := readObject(input, "the input")
	if err != nil {
		return Event{}, err
	}
	hook, err := o.text("hook_event_name")
	if err != nil {
		return Event{}, err
	}
	moment, known := a.moments[hook]
	if !known {
		return Event{}, fmt.Errorf("hook_event_name: %s has no hook %q that is answered here; "+
			"take it out of the settings, or see 'assent install %s'", a.Title, hook, a.Name)
	}
	e, err := a.read(o)
	if err != nil {
		return Event{}, fmt.Errorf("%s: %w", hook, err)
	}
	e.Hook, e.Moment = hook, moment
	return e, e.check()
}

// Asks reports whether the hook can leave the question to the agent's own prompt.
func (a *Agent) Asks(e Event) bool { return slices.Contains(a.prompts, e.Hook) }

// Defers reports whether the hook can end the run, to be asked again when it is resumed.
// Claude Code can where nobody sits in front of it, with claude -p: the variables that it
// gives its hooks say so. Elsewhere it takes no notice of such an answer.
func (a *Agent) Defers(e Event, environ []string) bool {
	return e.CallID != "" && slices.Contains(a.defers, e.Hook) && slices.Contains(environ, printing)
}

// printing is the variable by which Claude Code tells its hooks that it runs as claude -p.
const printing = "CLAUDE_CODE_ENTRYPOINT=sdk-cli"

// A Process is what is known about one that started a hook.
type Process struct {
	Pid   int
	Start string // when it was started; tells it from another one of that number
	Args  []string
	// Terminal says that it reads from and writes to one.
	Terminal bool
}

// Unseen reports whether nobody would see a question that a hook leaves to the agent. Chain are the
// processes that led to the hook, the nearest first; it is asked only if it matters.
func (a *Agent) Unseen(chain func() []Process, environ []string) bool {
	return a.unseen != nil && chain != nil && a.unseen(chain(), environ)
}

// Lifts reports whether a question of a hook takes the place of what the agent's own lists deny.
func (a *Agent) Lifts() bool { return a.lifts }

// Project returns the folder that the agent says is the project of an event, and where it says
// so; empty if it does not. A model chooses the folder of a call, and none of these.
func (a *Agent) Project(e Event, environ []string) (dir, source string) {
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); name != "" && name == a.project {
			dir, source = value, name
		}
	}
	if source == "" && e.Project != "" {
		return e.Project, "the event"
	}
	return dir, source
}

// Variables are those in which the agent tells its hooks the folder of the project.
func (a *Agent) Variables(project string) []string {
	if a.project == "" {
		return nil
	}
	return []string{a.project + "=" + project}
}

// HooksInProject reports whether the agent starts its hooks in the folder of the project,
// whatever folder the call runs in.
func (a *Agent) HooksInProject() bool { return a.hooksInProject }

// Shell is the name of the shell that the agent runs the command of an event with: the one
// that the event names, that of the user, or bash.
func (a *Agent) Shell(e Event, environ []string) string {
	var in struct{ Shell string }
	if json.Unmarshal(e.Input, &in) == nil && in.Shell != "" {
		return path.Base(in.Shell)
	}
	if a.usersShell {
		for _, v := range environ {
			if shell, ok := strings.CutPrefix(v, "SHELL="); ok && shell != "" {
				return path.Base(shell)
			}
		}
	}
	return "bash"
}

// Replaces reports whether another command can be run in place of that of an event.
// In a sandbox of the agent nothing of ours could be reached.
func (a *Agent) Replaces(e Event, w Want, chain func() []Process, environ []string) bool {
	if !a.CanReplace(e, w) {
		return false
	}
	return a.sandboxed == nil || chain != nil && !a.sandboxed(chain(), environ)
}

// UsersShell reports whether the agent runs commands with the shell of the user, and what the user
// set up there.
func (a *Agent) UsersShell() bool { return a.usersShell }

// CanReplace is Replaces for an agent without a sandbox of its own.
func (a *Agent) CanReplace(e Event, w Want) bool {
	return a.replaces && e.Moment == Before && e.Dir != "" && w.Call.Connector == "" &&
		w.Call.Tool == policy.ActShell && w.edit != ""
}

// KeepsFolder reports whether the agent's shell is in the folder that the last command went to.
func (a *Agent) KeepsFolder() bool { return a.keepsFolder }

// CanAsk reports whether a call that is about to run can be left to the agent's own prompt.
func (a *Agent) CanAsk() bool {
	return slices.ContainsFunc(a.prompts, func(hook string) bool { return a.moments[hook] == Before })
}

// Reply puts an answer into the form that the agent reads.
func (a *Agent) Reply(e Event, answer Answer) Reply {
	if answer.Verdict == Defer && !slices.Contains(a.defers, e.Hook) {
		answer = Answer{Reason: "it needs approval, and " + a.Title + " cannot wait for it here: " + answer.Reason}
	}
	if answer.Verdict == Deny && answer.Reason == "" {
		answer.Reason = "denied by assent"
	}
	return a.reply(e, answer)
}
