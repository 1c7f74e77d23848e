package hook

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/permissions"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/subset"
)

// raw has a person asked about a command whose text the agent's own shell may read otherwise
// than it was judged. The agent runs its own copy of the text, so that the judgement holds only
// for what a second reader reads as the parser does.
func raw(acts []policy.Act, arguments json.RawMessage, shell string) []policy.Act {
	var in struct{ Command string }
	if len(acts) == 0 || json.Unmarshal(arguments, &in) != nil {
		return acts // there is nothing to run
	}
	outside := "assent does not read the language of " + shell
	if known, ok := subset.Named(shell); ok {
		outside = analysis.SecondReading(in.Command, known)
	}
	if outside == "" {
		return acts
	}
	return person(acts, "the agent runs this text in its own shell, which may read it otherwise: "+outside)
}

// unstaged has the question about a command say that it runs where its user does not expect it.
func unstaged(acts []policy.Act) []policy.Act {
	out := slices.Clone(acts)
	for i := range out {
		if out[i].Verdict == policy.VerdictAsk {
			out[i].Why = strings.TrimPrefix(out[i].Why+"; it will run outside the sandbox", "; ")
		}
	}
	return out
}

// person has a person asked about acts, for a reason; empty leaves them as they are. No rule, grant
// or mode answers.
func person(acts []policy.Act, why string) []policy.Act {
	if why == "" || len(acts) == 0 {
		return acts
	}
	out := slices.Clone(acts)
	out[0].PersonOnly, out[0].Verdict = true, min(out[0].Verdict, policy.VerdictAsk)
	if out[0].Verdict != policy.VerdictBlock {
		out[0].Why = why
	}
	return out
}

// lists reads what the agent's own files and flags say about commands.
func (a *answering) lists(project string, e agents.Event) (permissions.Lists, error) {
	var chain []agents.Process
	if a.Chain != nil {
		chain = a.Chain()
	}
	place := permissions.Place{Project: project, Dir: cmp.Or(e.Dir, project), Environ: a.Environ, Chain: chain}
	return permissions.Read(a.Agent.Name, place)
}

// lifted says why a call must not be left to the prompt of an agent that then forgets what its own
// lists deny; empty if it may.
func (a *answering) lifted(d *evaluator, e agents.Event, call policy.Call) string {
	if !a.Agent.Lifts() {
		return ""
	}
	l, err := a.lists(d.project, e)
	if err != nil {
		return "a question would take the place of what " + a.Agent.Title +
			" denies itself, and that is not known: " + err.Error()
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

// searched leaves out of a search the files that the agent itself leaves out: Claude Code hands what its lists deny
// to its search as patterns to ignore.
func (a *answering) searched(e agents.Event, project string, call policy.Call, acts []policy.Act) []policy.Act {
	if a.Agent.Name != "claude-code" || call.Connector != "" || call.Tool != "search_files" || len(acts) < 2 {
		return acts
	}
	lists, err := a.lists(project, e)
	if err != nil {
		return acts
	}
	hidden := func(act policy.Act) bool {
		t := act.Target
		return act.Name == policy.ActReadFile && !t.Unknown && slices.ContainsFunc(t.Written, lists.Hides) &&
			slices.ContainsFunc(t.Resolved, lists.Hides)
	}
	return append(acts[:1:1], slices.DeleteFunc(slices.Clone(acts[1:]), hidden)...)
}
