package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/assent-dev/assent/policy"
)

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
	if _, err := advance(e.outcome.Stage, StageReleased); err != nil || !e.outcome.Runs() {
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
// answer is not seen here; that the question was handed over is recorded. What others
// decide about than who is at this machine cannot be left to a prompt: [ErrTeamDecides].
func (b *Batch) HandOver(ctx context.Context, r *Request) error {
	e, err := b.find(r.ID)
	if err != nil {
		return err
	}
	if !b.take(e) {
		return b.whoWon(e)
	}
	if err := b.leavable(e); err != nil {
		b.giveBack(ctx, e, e.seen)
		return err
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

// Reject refuses requests of the batch that nobody is asked about, with the reason; without
// requests, all that are pending. No person is said to have answered.
func (b *Batch) Reject(ctx context.Context, why string, requests ...*Request) {
	if len(requests) == 0 {
		requests = b.Pending()
	}
	for _, r := range requests {
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

// An EndedConnection is one that a process made, or wanted to make.
type EndedConnection struct {
	Host, Port, Program string
	// Sent and Received are the bytes to and from the host.
	Sent, Received int64
	Duration       time.Duration
	// By says by what it was let through or refused.
	By Permit
	// Err is why it was refused, failed or was cut; nil if its sides ended it.
	Err error
}

// A Permit is what lets something happen while a call runs, or refuses it. The zero Permit
// refuses.
type Permit struct {
	State policy.State
	Rule  string // id of the rule, if one decided
	Grant string // id of the grant, if one did
	// Basis is its text: a rule, a grant, a line of config.
	Basis string
	Who   policy.Who
}

// PermitBy returns what decided about the acts.
func PermitBy(j policy.Judgement, acts []policy.Act) Permit {
	var o Outcome
	o.apply(j)
	p := o.Permit()
	if p.Basis == "" && j.State == policy.StateFree && len(acts) > 0 {
		p.Basis = acts[0].Why
	}
	return p
}

// Permit returns what decided.
func (o *Outcome) Permit() Permit {
	p := Permit{State: o.State, Rule: o.Rule, Grant: o.Grant, Basis: o.Basis, Who: policy.Who{Via: o.via()}}
	if o.Decision != nil {
		p.Who = o.Decision.By
	}
	return p
}

// RecordConnection records a connection that a process of the call made or wanted to make.
func (g *Gate) RecordConnection(ctx context.Context, call policy.Call, c EndedConnection) error {
	o := Outcome{Call: call, State: c.By.State, Stage: StageAfter(c.By.State), Rule: c.By.Rule, Grant: c.By.Grant, Basis: c.By.Basis}
	if o.Runs() {
		o.Stage = StageCompleted
		if c.Err != nil {
			o.Stage = StageFailed
		}
	}
	act := policy.Act{Name: policy.ActConnect, Target: policy.HostTarget(c.Host, c.Port)}
	o.Acts = []policy.Act{act}
	e := o.event(EventConnected, g.cfg.Clock())
	e.Arguments = nil // the record of the call has them
	e.Host, e.Port, e.Program, e.By = act.Target.URL.Host, c.Port, c.Program, c.By.Who
	e.Sent, e.Received, e.Duration = c.Sent, c.Received, c.Duration
	if c.Err != nil {
		e.Error = c.Err.Error()
	}
	return g.record(context.WithoutCancel(ctx), e)
}
