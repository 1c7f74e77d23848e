package demo

import (
	"context"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// An operator answers the questions of the demonstration as somebody once did.
type operator struct{ say runs.Printer }

// recordedNote is what the operator told the agent.
const recordedNote = "I still need that one"

// recorded are the operator's answers, by the id of the call: the key, what it does, and
// the answer.
var recorded = map[string]struct {
	typed  string
	answer func(*approval.Request) approval.Decision
}{
	"edit": {"s (yes, for exactly this file, until the run ends)", func(r *approval.Request) approval.Decision {
		return r.Approve("").ForSession(policy.ReachExact)
	}},
	"index": {"y (yes, this once)", func(r *approval.Request) approval.Decision { return r.Approve("") }},
	"delete": {"n (no), with the note: " + recordedNote, func(r *approval.Request) approval.Decision {
		return r.Deny(recordedNote)
	}},
	"ideas": {"y (yes, this once)", func(r *approval.Request) approval.Decision { return r.Approve("") }},
}

// Approve implements [approval.Approver]. What was not recorded is denied.
func (o *operator) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	view, err := r.View(ctx)
	if err != nil {
		return approval.Decision{}, err
	}
	o.say.Line("\n  ┌─ %s · %s", present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
	o.say.Line("  │ asks because: %s", present.SafeLine(r.Why))
	o.say.Line("  │")
	cut := view.Cut(present.DefaultLimit())
	for _, l := range strings.Split(strings.TrimSuffix(cut.View.Content, "\n"), "\n") {
		o.say.Line("  │ %s", l)
	}
	if note := cut.Note(); note != "" {
		o.say.Line("  │ %s", note)
	}
	o.say.Line("  └─")
	d := o.answer(r)
	d.By.User = "recorded operator"
	return d, nil
}

func (o *operator) answer(r *approval.Request) approval.Decision {
	known, ok := recorded[r.Call.ID]
	if !ok {
		o.say.Line("  operator: n (nothing is recorded for this question)")
		return r.Deny("nothing is recorded for this question")
	}
	o.say.Line("  operator: %s", known.typed)
	return known.answer(r)
}
