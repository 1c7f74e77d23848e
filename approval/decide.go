package approval

import (
	"context"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/policy"
)

// ErrNobody says that a call had to be asked and nobody can be.
var ErrNobody = errors.New("nobody can be asked: the gate has no approver; set one, or choose the mode approve-all or strict")

// Decide reviews the calls, has the approver answer what is pending, and waits
// for that. Every call ends with an answer.
func (g *Gate) Decide(ctx context.Context, calls ...policy.Call) []Outcome {
	b := g.Review(ctx, calls...)
	g.Ask(ctx, b)
	return b.Outcomes()
}

// Ask has the gate's approver answer what the batch has pending, and waits for
// that. What then has no answer is refused: without an approver, after a
// failure, and, as dismissed, when ctx is done.
func (g *Gate) Ask(ctx context.Context, b *Batch) {
	if len(b.Pending()) == 0 {
		return
	}
	err := ErrNobody
	if g.cfg.Approver != nil {
		err = askApprover(ctx, g.cfg.Approver, b)
	}
	for pending := b.Pending(); len(pending) > 0; pending = b.Pending() {
		for _, r := range pending {
			b.leaveOpen(ctx, r, err)
		}
	}
}

// leaveOpen refuses a request that the approver did not answer.
func (b *Batch) leaveOpen(ctx context.Context, r *Request, err error) {
	e, findErr := b.find(r.ID)
	if findErr != nil || !b.take(e) {
		return
	}
	next := draft{outcome: e.outcome, proposal: e.proposal}
	o := &next.outcome
	o.Why = ""
	switch {
	case ctx.Err() != nil:
		o.State = policy.StateDismissed
	case errors.Is(err, ErrNobody) && e.outcome.PersonOnly:
		o.State, o.Why = policy.StateDenied, "only a person may answer this, and nobody can be asked"
	case errors.Is(err, ErrNobody):
		o.State, o.Why = policy.StateDenied, err.Error()
	case err != nil:
		o.State, o.Why = policy.StateDenied, fmt.Sprintf("the approver failed: %v", err)
	default:
		o.State, o.Why = policy.StateDenied, "the approver gave no answer"
	}
	o.Stage = StageAfter(o.State)
	b.gate.settle(ctx, &next)
	b.commit(ctx, e, next)
}
