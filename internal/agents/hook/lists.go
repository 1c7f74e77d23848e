package hook

import (
	"cmp"
	"encoding/json"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/permissions"
)

// lists reads what the agent's own files and flags say about commands.
func (a *answering) lists(project string, e agents.Event) (permissions.Lists, error) {
	var chain []agents.Process
	if a.Chain != nil {
		chain = a.Chain()
	}
	return permissions.Read(a.Agent.Name, permissions.Place{Project: project, Dir: cmp.Or(e.Dir, project), Environ: a.Environ, Chain: chain})
}

// lifted says why a command must not be left to the prompt of an agent that then forgets what its
// own lists deny; empty if it may.
func (a *answering) lifted(d *desk, e agents.Event, call approval.Call) string {
	if !a.Agent.Lifts() || call.Connector != "" || call.Tool != approval.Shell {
		return ""
	}
	var args struct{ Command string }
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return "the command cannot be read: " + err.Error()
	}
	l, err := a.lists(d.project, e)
	if err != nil {
		return "a question would take the place of what " + a.Agent.Title + " denies itself, and that is not known: " + err.Error()
	}
	if v, why := l.Judge(args.Command, d.folder); v == permissions.Deny {
		return a.Agent.Title + " denies it: " + why
	}
	return ""
}
