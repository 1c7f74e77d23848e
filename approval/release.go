package approval

import (
	"context"
	"fmt"

	"github.com/assent-dev/assent/policy"
)

// SessionInbox is a program in which a person answers what other processes ask. It
// is stale when its process is gone.
const SessionInbox SessionKind = "inbox"

// Release hands call i of the batch to a program that runs it itself, such as
// another agent whose hook asked. It is the last moment at which the answer is
// bound: a call that was asked is prepared once more, and if it would now do
// something else than what was shown, or what allowed it no longer does, the error
// is [ErrChanged], nothing may run, and the call has been judged again. That the
// call was released is recorded before Release returns; how it ends is not seen.
func (b *Batch) Release(ctx context.Context, i int) error {
	e := b.entries[i]
	if err := b.beginRelease(e, i); err != nil {
		return err
	}
	next := draft{outcome: e.outcome, proposal: e.proposal}
	if ctx.Err() != nil {
		b.stop(ctx, e, next, "it was cancelled before it was released")
		return context.Cause(ctx)
	}
	reason, err := b.stillReleasable(ctx, &next)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrNotAllowed, err)
		b.refuseStart(ctx, e, next, err)
		return err
	case reason != "":
		b.again(ctx, e, next.outcome, reason)
		return fmt.Errorf("%w: %s", ErrChanged, reason)
	}
	next.outcome.Stage = StageReleased
	if err := b.gate.record(ctx, next.event(EventEnded, b.gate.cfg.Clock())); err != nil {
		err = fmt.Errorf("%w: %w", ErrNotRecorded, err)
		b.refuseStart(ctx, e, next, err)
		return err
	}
	b.commit(ctx, e, next)
	return nil
}

// beginRelease takes an entry that is approved and has not started.
func (b *Batch) beginRelease(e *entry, i int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.taken {
		return fmt.Errorf("%w: it is being started", ErrNotAllowed)
	}
	if _, err := Advance(e.outcome.Stage, StageReleased); err != nil || !e.outcome.Runs() {
		return fmt.Errorf("%w: it is %s", ErrNotAllowed, e.outcome.Stage)
	}
	if b.copied && !b.gate.claim(b, i) {
		return fmt.Errorf("%w: it was started from another copy of the batch", ErrNotAllowed)
	}
	e.taken = true
	return nil
}

// stillReleasable returns why the call must be judged again, if it must. What nobody
// was shown was judged a moment ago, from what is there.
func (b *Batch) stillReleasable(ctx context.Context, d *draft) (reason string, err error) {
	if d.outcome.Request == "" {
		return "", nil
	}
	_, p, err := b.gate.prepare(ctx, d.outcome.Call)
	if err != nil {
		return "", err
	}
	d.proposal = &p
	return b.stillHolds(ctx, d)
}

// HandOver leaves a pending request to the prompt of the program that asked. The
// answer is not seen here; that the question was handed over is recorded.
func (b *Batch) HandOver(ctx context.Context, r *Request) error {
	e, err := b.find(r.ID)
	if err != nil {
		return err
	}
	if !b.take(e) {
		return b.whoWon(e)
	}
	next := draft{outcome: e.outcome, proposal: e.proposal}
	o := &next.outcome
	o.State, o.Stage = policy.StateHandedOver, StageReleased
	ev := next.event(EventEnded, b.gate.cfg.Clock())
	ev.By = policy.Who{Via: policy.ViaAgentPrompt}
	if err := b.gate.record(ctx, ev); err != nil {
		err = fmt.Errorf("%w: %w", ErrNotRecorded, err)
		b.commit(ctx, e, b.gate.refuse(ctx, next.outcome, policy.StateDenied, err.Error()))
		return err
	}
	b.commit(ctx, e, next)
	return nil
}

// Reject refuses what the batch has pending and nobody is asked about, with the
// reason.
func (b *Batch) Reject(ctx context.Context, why string) {
	for _, r := range b.Pending() {
		e, err := b.find(r.ID)
		if err != nil || !b.take(e) {
			continue // somebody answered
		}
		b.commit(ctx, e, b.gate.refuse(ctx, e.outcome, policy.StateDenied, why))
	}
}

// EventDiffered is the kind of an event about a call that was released: what the other
// program ran is not what it was told yes to.
const EventDiffered EventKind = "differed"
