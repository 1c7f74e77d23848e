package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/assent-dev/assent/policy"
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
	entry   *entry
	started time.Time

	mu  sync.Mutex
	ran []string
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
	if err := b.beginStart(e, i); err != nil {
		return nil, err
	}
	next := draft{outcome: e.outcome, proposal: &p}
	if ctx.Err() != nil {
		b.stop(ctx, e, next, "it was cancelled before it ran")
		return nil, context.Cause(ctx)
	}
	reason, err := b.stillHolds(ctx, &next)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrNotAllowed, err)
		b.refuseStart(ctx, e, next, err)
		return nil, err
	case reason == "":
		return b.execute(ctx, e, next)
	case e.outcome.Stage == StageSuspended:
		err = fmt.Errorf("%w: %s", ErrNotAllowed, reason)
		b.refuseStart(ctx, e, next, err)
		return nil, err
	}
	b.again(ctx, e, next.outcome, reason)
	return nil, fmt.Errorf("%w: %s", ErrChanged, reason)
}

// refuseStart refuses a call that was allowed. Of one that was suspended a part
// has run: it is cancelled, and never begun anew.
func (b *Batch) refuseStart(ctx context.Context, e *entry, next draft, why error) {
	if e.outcome.Stage == StageSuspended {
		b.stop(ctx, e, next, why.Error())
		return
	}
	b.commit(ctx, e, b.gate.refuse(ctx, next.outcome, policy.StateDenied, why.Error()))
}

// stop ends a call that was allowed and does not go on.
func (b *Batch) stop(ctx context.Context, e *entry, next draft, why string) {
	next.outcome.Stage, next.outcome.Why = StageCancelled, why
	b.gate.recordEnd(ctx, &next)
	b.commit(ctx, e, next)
}

// beginStart takes an entry that is approved and has not started.
func (b *Batch) beginStart(e *entry, i int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.taken {
		return fmt.Errorf("%w: it is being started", ErrNotAllowed)
	}
	if _, err := advance(e.outcome.Stage, StageExecuting); err != nil || !e.outcome.Runs() {
		return fmt.Errorf("%w: it is %s", ErrNotAllowed, e.outcome.Stage)
	}
	if b.copied && !b.gate.claim(b, i) {
		return fmt.Errorf("%w: it was started from another copy of the batch", ErrNotAllowed)
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
	return b.stillAllowed(ctx, d)
}

// stillAllowed returns why what allowed the call no longer does, if so.
func (b *Batch) stillAllowed(ctx context.Context, d *draft) (reason string, err error) {
	o := &d.outcome
	byPerson := o.answered()
	j, err := b.gate.judgement(ctx, o, d.proposal, byPerson)
	if err != nil {
		return "", err
	}
	switch {
	case !j.State.Runs():
		return "what allowed it no longer does", nil
	case j.PersonOnly && !o.PersonOnly:
		return j.Why, nil // which nobody was told who said yes
	case byPerson:
		if err := b.gate.stillDecided(ctx, d); err != nil {
			return err.Error(), nil
		}
	case !byPerson:
		o.apply(j) // another rule or grant may be what allows it now
	}
	return "", nil
}

// again judges a call that was allowed from the start.
func (b *Batch) again(ctx context.Context, e *entry, o Outcome, reason string) {
	b.commit(ctx, e, b.askedAgain(ctx, e, o, errors.New(reason)))
}

// askedAgain drafts the call as one that nobody has answered.
func (b *Batch) askedAgain(ctx context.Context, e *entry, o Outcome, reason error) draft {
	o = Outcome{Call: o.Call, Request: o.Request, Asked: o.Asked, Original: o.Original, State: policy.StatePending, Stage: StageWaiting}
	next := b.gate.review(ctx, e, o)
	if next.request != nil {
		next.request.Why = joinReasons(fmt.Sprintf("asked again because %v", reason), next.request.Why)
	}
	return next
}

func (b *Batch) execute(ctx context.Context, e *entry, next draft) (*Execution, error) {
	if err := b.claimRun(ctx, e); err != nil {
		b.giveBack(ctx, e, e.seen)
		return nil, fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	now := b.gate.cfg.Clock()
	next.outcome.Stage = StageExecuting
	if err := b.gate.record(ctx, next.event(EventStarted, now)); err != nil {
		err = fmt.Errorf("%w: %w", ErrNotRecorded, err)
		b.refuseStart(ctx, e, next, err)
		return nil, err
	}
	resumed := e.outcome.Stage == StageSuspended
	x := &Execution{entry: e, started: now}
	next.running = x
	b.commit(ctx, e, next)
	// Writing the record took time: look once more.
	reason, err := b.stillAllowed(ctx, &next)
	switch {
	case err == nil && reason == "":
		return x, nil
	case err == nil && !resumed:
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrChanged, reason), x.Again(ctx, errors.New(reason)))
	case err == nil:
		err = errors.New(reason)
	}
	return nil, errors.Join(fmt.Errorf("%w: %w", ErrNotAllowed, err), x.End(ctx, StageCancelled, err))
}

// End records how the execution ended: completed, failed, cancelled, suspended
// or unknown. The cause is that of a failure.
func (x *Execution) End(ctx context.Context, stage Stage, cause error) error {
	if stage == StageWaiting {
		return &transitionError{From: StageExecuting, To: stage}
	}
	next, err := x.take(stage)
	if err != nil {
		return err
	}
	next.outcome.Stage = stage
	err = x.record(ctx, &next, cause)
	if stage == StageSuspended {
		err = errors.Join(err, x.entry.batch.releaseRun(ctx, x.entry, stage))
	}
	x.entry.batch.commit(ctx, x.entry, next)
	return err
}

// Again ends an execution that did nothing, because the tool found at the last
// instant that what was shown no longer holds, and has the call judged again. If
// its end cannot be recorded, the call is refused instead.
func (x *Execution) Again(ctx context.Context, cause error) error {
	next, err := x.take(StageWaiting)
	if err != nil {
		return err
	}
	b := x.entry.batch
	if cause == nil {
		cause = ErrChanged
	}
	ended := next
	ended.outcome.Stage = StageCancelled
	if err := x.record(ctx, &ended, cause); err != nil {
		err = fmt.Errorf("%w: %w", ErrNotRecorded, err)
		b.commit(ctx, x.entry, b.gate.refuse(ctx, next.outcome, policy.StateDenied, err.Error()))
		return err
	}
	if err := b.releaseRun(ctx, x.entry, StageWaiting); err != nil {
		b.commit(ctx, x.entry, b.gate.refuse(ctx, next.outcome, policy.StateDenied, err.Error()))
		return err
	}
	b.again(ctx, x.entry, next.outcome, cause.Error())
	return nil
}

// Judge judges further acts of the call that runs, by what is remembered now. Nobody is
// asked and no mode answers: what nothing covers is pending. What is reserved then is not so any
// more if what let the call run is all that a team asks for such acts now.
func (x *Execution) Judge(ctx context.Context, acts []policy.Act) (policy.Judgement, error) {
	b := x.entry.batch
	b.mu.Lock()
	d := draft{outcome: x.entry.outcome}
	if x.entry.proposal != nil {
		p := *x.entry.proposal
		d.proposal = &p
	}
	b.mu.Unlock()
	call := d.outcome.Call
	inForce, err := b.gate.policy(ctx, call.Session)
	if err != nil {
		return policy.Judgement{}, err
	}
	inForce.Mode = policy.ModeAsk
	j := inForce.Judge(policy.Question{Call: &call, Acts: acts, Definition: call.Definition, Now: b.gate.cfg.Clock()})
	if j.Reserved && d.proposal != nil {
		d.proposal.Acts = acts
		j.Reserved = b.gate.stillDecided(ctx, &d) != nil
	}
	return j, nil
}

// Basis is the text of the rule or grant that let the call run; empty if none did.
func (x *Execution) Basis() string {
	x.entry.batch.mu.Lock()
	defer x.entry.batch.mu.Unlock()
	return x.entry.outcome.Basis
}

// Answered returns the acts of the call, and by what it runs. What was to be asked later is
// answered if a person approved the call: it was asked with the rest.
func (x *Execution) Answered() ([]policy.Act, Permit) {
	x.entry.batch.mu.Lock()
	defer x.entry.batch.mu.Unlock()
	acts := slices.Clone(x.entry.outcome.Acts)
	for i := range acts {
		if acts[i].Verdict == policy.VerdictAsk && x.entry.outcome.State == policy.StateApproved {
			acts[i].Later = false
		}
	}
	return acts, x.entry.outcome.Permit()
}

// Ran notes what the call started, for the record of its end.
func (x *Execution) Ran(what []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ran = what
}

// Report records what happened while the call ran, such as what a sandbox refused to it.
func (x *Execution) Report(ctx context.Context, kind EventKind, why string) error {
	b := x.entry.batch
	b.mu.Lock()
	d := draft{outcome: x.entry.outcome, proposal: x.entry.proposal}
	b.mu.Unlock()
	ev := d.event(kind, b.gate.cfg.Clock())
	ev.Why = why
	return b.gate.record(context.WithoutCancel(ctx), ev)
}

// take makes the caller the one who ends the execution.
func (x *Execution) take(to Stage) (draft, error) {
	b := x.entry.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	switch _, err := advance(x.entry.outcome.Stage, to); {
	case x.entry.taken:
		return draft{}, fmt.Errorf("%w: its end is being recorded", ErrNotAllowed)
	case err != nil:
		return draft{}, err
	case x.entry.running != x:
		return draft{}, fmt.Errorf("%w: another execution has begun", ErrNotAllowed)
	}
	x.entry.taken = true
	return draft{outcome: x.entry.outcome, proposal: x.entry.proposal, running: x}, nil
}

func (x *Execution) record(ctx context.Context, d *draft, cause error) error {
	gate := x.entry.batch.gate
	now := gate.cfg.Clock()
	ev := d.event(EventEnded, now)
	ev.Duration = now.Sub(x.started)
	x.mu.Lock()
	ev.Ran = x.ran
	x.mu.Unlock()
	if cause != nil {
		ev.Error = cause.Error()
	}
	return gate.record(context.WithoutCancel(ctx), ev)
}

// answered reports whether an approver said yes to exactly this call.
func (o *Outcome) answered() bool {
	return (o.State == policy.StateApproved || o.State == policy.StateModeApproved) && o.Decision != nil &&
		o.Decision.Answer == AnswerApprove && o.Decision.Fingerprint == o.Fingerprint
}

// A Claim names one execution of a call of a batch of which there may be copies.
type Claim struct {
	Batch       string
	Call        string
	Fingerprint policy.Digest
	Session     string
	// Resume says that the call was suspended and goes on.
	Resume bool
}

// ErrClaimed says that a call was started from another copy of its batch.
var ErrClaimed = errors.New("it was started from another copy of the batch")

// A ClaimStore sees to it that a call runs once, in however many processes its
// batch was restored.
type ClaimStore interface {
	// Claim takes the call for this process, or fails with [ErrClaimed]. A claim
	// to resume succeeds only if the call is suspended.
	Claim(ctx context.Context, c Claim) error
	// Release says how the execution ended. A suspended call can be claimed to
	// resume; one that is pending, because nothing was done, can be claimed
	// again; any other never.
	Release(ctx context.Context, c Claim, stage Stage) error
}

// claimRun claims a call of a copied batch, here and in every process.
func (b *Batch) claimRun(ctx context.Context, e *entry) error {
	if b.gate.cfg.Claims == nil || !b.wasCopied() {
		return nil
	}
	c := b.claimOf(e)
	return safely("claiming the call", func() error { return b.gate.cfg.Claims.Claim(ctx, c) })
}

// releaseRun tells how a claimed execution ended. If that fails the claim
// stands: the call is not repeated.
func (b *Batch) releaseRun(ctx context.Context, e *entry, stage Stage) error {
	if b.gate.cfg.Claims == nil || !b.wasCopied() {
		return nil
	}
	c := b.claimOf(e)
	err := safely("releasing the call", func() error {
		return b.gate.cfg.Claims.Release(context.WithoutCancel(ctx), c, stage)
	})
	if err != nil {
		return fmt.Errorf("the call cannot be taken up again: %w", err)
	}
	return nil
}

func (b *Batch) claimOf(e *entry) Claim {
	o := &e.outcome
	return Claim{Batch: b.id, Call: o.Call.ID, Fingerprint: o.Fingerprint, Session: o.Call.Session, Resume: o.Stage == StageSuspended}
}

func (b *Batch) wasCopied() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.copied
}
