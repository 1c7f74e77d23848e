package hook

import (
	"cmp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
)

// told says what an agent is told about a call that was answered so.
func (a *answering) told(e agents.Event, want agents.Want, o approval.Outcome) agents.Answer {
	switch {
	case o.Runs() && o.Original == nil:
		return agents.Answer{Verdict: agents.Allow, Reason: agents.WhyRuns(o)}
	case o.Runs():
		input, err := want.Changed(e, o.Call.Arguments)
		if err != nil {
			return agents.Answer{Reason: err.Error()}
		}
		return agents.Answer{Verdict: agents.Allow, Reason: agents.WhyRuns(o), Input: input}
	case o.State == policy.StatePending:
		return agents.Answer{Verdict: agents.Defer, Reason: "assent asks: " + cmp.Or(o.Why, "nothing allows it") + "; answer it with 'assent pending', then resume"}
	case o.State == policy.StateHandedOver:
		return agents.Answer{Verdict: agents.Ask, Reason: "assent asks: " + cmp.Or(o.Why, "nothing allows it")}
	}
	return agents.Answer{Reason: agents.WhyNot(o)}
}
