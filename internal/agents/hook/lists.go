package hook

import (
	"cmp"
	"encoding/json"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/permissions"
	"github.com/assent-dev/assent/policy"
)

// lists reads what the agent's own files and flags say about commands.
func (a *answering) lists(project string, e agents.Event) (permissions.Lists, error) {
	var chain []agents.Process
	if a.Chain != nil {
		chain = a.Chain()
	}
	return permissions.Read(a.Agent.Name, permissions.Place{Project: project, Dir: cmp.Or(e.Dir, project), Environ: a.Environ, Chain: chain})
}

// lifted says why a call must not be left to the prompt of an agent that then forgets what its own
// lists deny; empty if it may.
func (a *answering) lifted(d *evaluator, e agents.Event, call policy.Call) string {
	if !a.Agent.Lifts() {
		return ""
	}
	l, err := a.lists(d.project, e)
	if err != nil {
		return "a question would take the place of what " + a.Agent.Title + " denies itself, and that is not known: " + err.Error()
	}
	v, why := l.JudgeTool(e.Server, e.Tool, e.Input)
	if call.Connector == "" && call.Tool == policy.ActShell {
		var args struct{ Command string }
		if err := json.Unmarshal(call.Arguments, &args); err != nil {
			return "the command cannot be read: " + err.Error()
		}
		v, why = l.Judge(args.Command, d.folder)
	}
	if v == permissions.Deny {
		return a.Agent.Title + " denies it: " + why
	}
	return ""
}

// renamed says which word of a command is not what it seems in the person's own shell; empty if
// there is none, or if the agent has a shell of its own.
func (a *answering) renamed(arguments json.RawMessage) string {
	var in struct{ Command string }
	if !a.Agent.UsersShell() || json.Unmarshal(arguments, &in) != nil {
		return ""
	}
	name := permissions.Renamed(in.Command, a.Environ)
	if name == "" {
		return ""
	}
	return name + " is an alias or a function of your shell, so that it is not known what it runs"
}
