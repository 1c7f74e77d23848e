package approval

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Why a call that was allowed does not start; match with [errors.Is].
var (
	// ErrChanged says that what was shown or what allowed the call no longer
	// holds. The call has been judged again; see its outcome.
	ErrChanged = errors.New("what was shown or what allowed the call has changed")
	// ErrNotAllowed says that the call was not allowed, or has run already.
	ErrNotAllowed = errors.New("the call may not run")
	// ErrNotRecorded says that the start could not be recorded.
	ErrNotRecorded = errors.New("the call cannot be recorded, so it does not run")
)

// An Execution is a call that is running.
type Execution struct {
	gate    *Gate
	entry   *entry
	started time.Time
}

// Start is the last moment before call i of the batch runs. The proposal is
// what the call would do now. Start checks that it is what was shown, that what
// allowed the call still does, and that the call has not run, and records the
// start. Each answer starts one execution.
//
// If something has changed, the error is [ErrChanged], nothing may run, and the
// call has been judged again: it may be pending now.
func (b *Batch) Start(ctx context.Context, i int, p Proposal) (*Execution, error) {
	e := b.entries[i]
	if err := b.beginStart(e); err != nil {
		return nil, err
	}
	next := draft{outcome: e.outcome, proposal: &p}
	o := &next.outcome
	if ctx.Err() != nil {
		o.Stage = StageCancelled
		next.outcome.Why = "it was cancelled before it ran"
		b.recordEnd(ctx, &next, e.request)
		b.commit(e, next)
		return nil, context.Cause(ctx)
	}
	reason, err := b.stillHolds(ctx, &next)
	if err != nil {
		b.commit(e, b.gate.refuse(ctx, *o, Denied, err.Error()))
		return nil, fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	if reason != "" {
		b.again(ctx, e, next.outcome, reason)
		return nil, fmt.Errorf("%w: %s", ErrChanged, reason)
	}
	return b.execute(ctx, e, next)
}

// beginStart takes an entry that is approved and has not started.
func (b *Batch) beginStart(e *entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.taken {
		return fmt.Errorf("%w: it is being started", ErrNotAllowed)
	}
	if _, err := Advance(e.outcome.Stage, StageExecuting); err != nil || !e.outcome.Runs() {
		return fmt.Errorf("%w: it is %s", ErrNotAllowed, e.outcome.Stage)
	}
	e.taken = true
	return nil
}

// stillHolds returns why the call must be judged again, if it must.
func (b *Batch) stillHolds(ctx context.Context, d *draft) (reason string, err error) {
	o := &d.outcome
	if fingerprint(&o.Call, d.proposal) != o.Fingerprint {
		if d.proposal.Definition != o.Call.Definition {
			return "the tool's definition changed", nil
		}
		return "what the call would do changed since it was shown", nil
	}
	byPerson := o.State == Approved || o.State == ModeApproved && o.Decision != nil
	j, err := b.gate.judgement(ctx, o, d.proposal, byPerson)
	if err != nil {
		return "", err
	}
	if !j.State.Runs() {
		return "what allowed it no longer does", nil
	}
	if j.State != Approved {
		d.outcome.apply(j) // another rule or grant may be what allows it now
	}
	return "", nil
}

// again judges a call that was allowed from the start.
func (b *Batch) again(ctx context.Context, e *entry, o Outcome, reason string) {
	o.State, o.Stage, o.Decision = Pending, StagePending, nil
	next := b.gate.review(ctx, b, o)
	if next.request != nil {
		next.request.Why = joinReasons("asked again because "+reason, next.request.Why)
	}
	b.commit(e, next)
}

func (b *Batch) execute(ctx context.Context, e *entry, next draft) (*Execution, error) {
	now := b.gate.cfg.Clock()
	next.outcome.Stage = StageExecuting
	if err := b.gate.record(ctx, next.event(Started, now, e.request)); err != nil {
		err = fmt.Errorf("%w: %w", ErrNotRecorded, err)
		b.commit(e, b.gate.refuse(ctx, next.outcome, Denied, err.Error()))
		return nil, err
	}
	b.commit(e, next)
	return &Execution{gate: b.gate, entry: e, started: now}, nil
}

// End records how the execution ended: completed, failed, cancelled, suspended
// or unknown. The cause is that of a failure.
func (x *Execution) End(ctx context.Context, stage Stage, cause error) error {
	next, err := x.take(stage)
	if err != nil {
		return err
	}
	next.outcome.Stage = stage
	x.entry.batch.commit(x.entry, next)
	return x.record(ctx, &next, cause)
}

// Again ends an execution that did nothing, because the tool found at the last
// instant that what was shown no longer holds, and has the call judged again.
func (x *Execution) Again(ctx context.Context, cause error) error {
	next, err := x.take(StagePending)
	if err != nil {
		return err
	}
	ended := next
	ended.outcome.Stage = StageCancelled
	err = x.record(ctx, &ended, cause)
	x.entry.batch.again(ctx, x.entry, next.outcome, cause.Error())
	return err
}

// take makes the caller the one who ends the execution.
func (x *Execution) take(to Stage) (draft, error) {
	b := x.entry.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := Advance(x.entry.outcome.Stage, to); err != nil {
		return draft{}, err
	}
	if x.entry.taken {
		return draft{}, fmt.Errorf("%w: its end is being recorded", ErrNotAllowed)
	}
	x.entry.taken = true
	return draft{outcome: x.entry.outcome, proposal: x.entry.proposal}, nil
}

func (x *Execution) record(ctx context.Context, d *draft, cause error) error {
	now := x.gate.cfg.Clock()
	ev := d.event(Ended, now, x.entry.request)
	ev.Duration = now.Sub(x.started)
	if cause != nil {
		ev.Error = Redact(cause.Error())
	}
	return x.gate.record(context.WithoutCancel(ctx), ev)
}

func (b *Batch) recordEnd(ctx context.Context, d *draft, asked *Request) {
	ev := d.event(Ended, b.gate.cfg.Clock(), asked)
	if err := b.gate.record(context.WithoutCancel(ctx), ev); err != nil {
		d.outcome.Why = joinReasons(d.outcome.Why, fmt.Sprintf("this could not be recorded: %v", err))
	}
}
