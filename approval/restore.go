package approval

import (
	"context"
	"errors"
	"slices"

	"github.com/assent-dev/assent/policy"
)

// restore drafts what a saved entry is now.
func (b *Batch) restore(ctx context.Context, e *entry, s savedEntry) draft {
	e.former = s.Former
	if s.Outcome.State != policy.StatePending {
		if s.Outcome.Stage == StageExecuting {
			s.Outcome.Stage = StageUnknown
		}
		return draft{outcome: s.Outcome}
	}
	next, old := b.gate.review(ctx, e, s.Outcome), s.Request
	if next.outcome.Runs() {
		next = b.unlessAnswered(ctx, e, next, old)
	}
	r := next.request
	switch {
	case r == nil:
	case r.Fingerprint != old.Fingerprint || r.PersonOnly && !old.PersonOnly:
		e.former = append(e.former, old.ID)
		r.Why = joinReasons("asked again because it is no longer what was shown", r.Why)
	case b.gate.endedUnanswered(ctx, old):
		e.former = append(e.former, old.ID)
	default:
		r.ID, r.Created = old.ID, old.Created
		next.outcome.Request, next.outcome.Asked = old.ID, old.Created
	}
	return next
}

// unlessAnswered returns the draft, of a call that runs now and was asked as old,
// if nobody has answered that; from now on nobody can. Otherwise the call waits
// until the answer takes effect: what a person said holds, whatever came after it.
func (b *Batch) unlessAnswered(ctx context.Context, e *entry, next draft, old *Request) draft {
	o := next.outcome
	err := b.gate.win(ctx, old, Settlement{State: o.State, By: policy.Who{Via: o.via()}})
	if err == nil {
		return next
	}
	same := o.Fingerprint == old.Fingerprint
	if lost := (*SettledError)(nil); errors.As(err, &lost) {
		d := lost.Decision
		if d == nil || !same && d.Answer == AnswerApprove && d.Arguments == nil {
			return next
		}
	}
	acts := next.proposal.Acts
	j := policy.Judgement{State: policy.StatePending, Why: err.Error(), Open: policy.Asking(acts), Trace: o.Trace}
	if same { // the answer is about what was open then
		j.Open = slices.DeleteFunc(slices.Clone(old.Open), func(i int) bool { return i < 0 || i >= len(acts) })
	}
	next.outcome.apply(j)
	return b.gate.ask(ctx, e, next, j)
}

// endedUnanswered reports whether a request that was posted has ended without an
// answer that can take effect: under its id no other can be given.
func (g *Gate) endedUnanswered(ctx context.Context, r *Request) bool {
	store, ok := g.cfg.Requests.(RequestStore)
	if !ok {
		return false
	}
	p, err := store.Posted(ctx, r.ID)
	if err != nil || p.Settled == nil {
		return false
	}
	_, err = p.answer()
	return err != nil
}
