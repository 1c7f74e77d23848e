package hook

import (
	"encoding/json"
	"slices"
	"strings"

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
