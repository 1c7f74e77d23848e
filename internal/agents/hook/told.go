package hook

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
)

// told says what an agent is told about a call that was answered so.
func (a *answering) told(e agents.Event, want agents.Want, o approval.Outcome) agents.Answer {
	switch {
	case o.Runs() && o.Original == nil:
		return agents.Answer{Verdict: agents.Allow, Reason: reason(o)}
	case o.Runs():
		input, err := want.Changed(e, o.Call.Arguments)
		if err != nil {
			return agents.Answer{Reason: err.Error()}
		}
		return agents.Answer{Verdict: agents.Allow, Reason: reason(o), Input: input}
	case o.State == approval.Pending:
		return agents.Answer{Verdict: agents.Defer, Reason: "assent asks: " + cmp.Or(o.Why, "nothing allows it") + "; answer it with 'assent pending', then resume"}
	case o.State == approval.HandedOver:
		return agents.Answer{Verdict: agents.Ask, Reason: "assent asks: " + cmp.Or(o.Why, "nothing allows it")}
	case o.State == approval.Answered:
		return agents.Answer{Reason: fmt.Sprintf("A person answered in place of the tool, which did not run: %s", o.Decision.Result)}
	}
	return agents.Answer{Reason: forModel(o.Err())}
}

// reason says in a line why a call may run.
func reason(o approval.Outcome) string {
	text := "assent: " + string(o.State)
	if o.Basis != "" {
		text += ", " + o.Basis
	}
	if note := o.Note(); note != "" {
		text += ". The person said: " + note
	}
	return text
}

// forModel returns the words of an error that are for the model.
func forModel(err error) string {
	var words interface{ ForModel() string }
	if errors.As(err, &words) {
		return words.ForModel()
	}
	return err.Error()
}
