package approval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/policy"
)

// Resolve takes answers for any of the pending requests, in any order, and
// never waits. An answer that does not fit has no effect and is reported as a
// [*DecisionError], joined with the others; its request stays as it was.
func (b *Batch) Resolve(ctx context.Context, decisions ...Decision) error {
	var errs []error
	for _, d := range decisions {
		if err := b.resolve(ctx, d); err != nil {
			errs = append(errs, &DecisionError{Request: d.Request, Err: err})
		}
	}
	return errors.Join(errs...)
}

func (b *Batch) resolve(ctx context.Context, d Decision) error {
	if d.Request == "" {
		d.Request = b.requestOf(d.Call)
	}
	e, err := b.find(d.Request)
	if err != nil {
		return err
	}
	if !b.take(e) {
		return b.whoWon(e)
	}
	seen := e.seen
	if d.At.IsZero() {
		d.At = b.gate.cfg.Clock()
	}
	if d.By.Via == "" {
		d.By.Via = policy.ViaProgram
	}
	next, err := b.answer(ctx, e, d)
	if errors.Is(err, errExpired) {
		b.commit(ctx, e, b.expired(ctx, e))
		return err
	}
	if lost := (*SettledError)(nil); errors.As(err, &lost) {
		b.commit(ctx, e, b.lose(ctx, e, lost))
		return err
	}
	if err != nil {
		b.giveBack(ctx, e, seen)
		if errors.Is(err, ErrPersonOnly) || errors.Is(err, ErrTeamDecides) {
			b.gate.resettle(ctx) // the request may not say so yet
		}
		return err
	}
	b.commit(ctx, e, next)
	if saved := next.outcome.Decision; saved != nil && saved.Remember.Keep != KeepNone {
		b.gate.resettle(ctx)
	}
	return nil
}

// requestOf returns the id of the request for the call with this id, if any.
func (b *Batch) requestOf(call string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if call != "" && e.outcome.Call.ID == call && e.request != nil {
			return e.request.ID
		}
	}
	return ""
}

// find returns the entry that the request is for.
func (b *Batch) find(id string) (*entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		switch {
		case id == "":
		case e.request != nil && e.request.ID == id, e.outcome.Request == id:
			return e, nil
		case slices.Contains(e.former, id) && e.pending():
			return nil, fmt.Errorf("%w: it is asked again as %q", ErrWrongCall, e.request.ID)
		case slices.Contains(e.former, id):
			return nil, e.settledBy()
		}
	}
	return nil, ErrUnknownRequest
}

// whoWon says by whom the request was answered before.
func (b *Batch) whoWon(e *entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return e.settledBy()
}

func (e *entry) settledBy() error {
	if e.pending() {
		return fmt.Errorf("%w: the batch is closed, or goes on elsewhere", ErrSettled)
	}
	if d := e.outcome.Decision; d != nil {
		return fmt.Errorf("%w: %s by %s", ErrSettled, e.outcome.State, d.By)
	}
	return fmt.Errorf("%w: %s", ErrSettled, e.outcome.State)
}

// answer drafts what the decision makes of the entry, which is taken.
func (b *Batch) answer(ctx context.Context, e *entry, d Decision) (draft, error) {
	if d.Request != e.request.ID {
		return draft{}, fmt.Errorf("%w: it is asked again as %q", ErrWrongCall, e.request.ID)
	}
	if err := d.validate(e.request); err != nil {
		return draft{}, err
	}
	if d.agrees() && ctx.Err() != nil {
		return draft{}, context.Cause(ctx)
	}
	if err := b.gate.proven(ctx, e.request, &d); err != nil {
		return draft{}, err
	}
	if d.Arguments == nil && d.Fingerprint != e.request.Fingerprint {
		return draft{}, ErrWrongCall
	}
	voted, err := b.decided(ctx, e, &d)
	if err != nil {
		return draft{}, err
	}
	if err := b.gate.win(ctx, e.request, d.Settled()); err != nil {
		return draft{}, err
	}
	next, err := b.effect(ctx, e, d.as(voted), voted)
	if err != nil {
		err = b.gate.takeBack(ctx, e.request, err)
	}
	return next, err
}

// effect drafts what a decision that has won, perhaps by votes, makes of the entry.
func (b *Batch) effect(ctx context.Context, e *entry, d Decision, voted []Voted) (draft, error) {
	if d.Arguments != nil {
		return b.change(ctx, e, d, voted)
	}
	if d.Answer == AnswerApprove {
		o := e.outcome
		o.Voted = voted
		return b.approve(ctx, e, o, e.proposal, d)
	}
	if err := b.gate.remember(ctx, e.request, d); err != nil {
		return draft{}, err
	}
	next := draft{outcome: e.outcome, proposal: e.proposal}
	o := &next.outcome
	o.Why = ""
	switch {
	case d.Answer == AnswerNone:
		o.Why = "no answer was given"
	case d.Answer == AnswerExpire && e.request.TeamDecides():
		o.Why = e.request.unanswered()
	case d.By.Via == policy.ViaMode:
		o.Why, d.Note = d.Note, "" // no person said it
	}
	o.State, o.Decision, o.Voted = d.state(), &d, voted
	o.Stage = StageAfter(o.State)
	b.gate.settle(ctx, &next)
	return next, nil
}

// approve drafts a person's yes to exactly the call of o. What is blocked or
// denied by now stays so.
func (b *Batch) approve(ctx context.Context, e *entry, o Outcome, p *Proposal, d Decision) (draft, error) {
	seen := b.gate.changes.Load()
	j, err := b.gate.judgement(ctx, &o, p, true)
	if err != nil {
		return draft{}, err
	}
	if !j.State.Runs() {
		return b.gate.drafted(ctx, e, o, p, j, seen), nil
	}
	request := e.request
	if o.Fingerprint != request.Fingerprint {
		if request, err = b.preview(ctx, &o, p); err != nil {
			return draft{}, err
		}
		if err := d.validate(request); err != nil {
			return draft{}, err
		}
		o.Routing = request.Routing
	}
	if j.PersonOnly && !request.PersonOnly {
		return draft{}, fmt.Errorf("%w, which the request did not say: %s", ErrPersonOnly, j.Why)
	}
	asked := d.Remember
	d.Remember = d.remembers(request)
	err = b.gate.remember(ctx, request, d)
	if asked.Keep == KeepNone && errors.Is(err, ErrNotOffered) {
		d.Remember, err = asked, nil // the tool would have it kept, and it cannot be
	}
	if err != nil {
		return draft{}, err
	}
	if len(o.Voted) > 0 {
		if o.shown, err = request.ViewDigest(ctx); err != nil {
			return draft{}, err
		}
	}
	o.apply(j)
	o.Acts = cloneActs(p.Acts)
	o.Decision = &d
	o.State, o.Stage, o.Why = d.state(), StageReady, ""
	return draft{outcome: o, proposal: p}, nil
}

// maxChanges is how often the arguments of one call may be changed: an approver
// that never stops must not hold the run forever.
const maxChanges = 100

// change drafts an approval with other arguments. The changed call is prepared
// and judged like any other. If the decision is bound to its fingerprint, it is
// its yes; otherwise the person is shown the changed call.
func (b *Batch) change(ctx context.Context, e *entry, d Decision, voted []Voted) (draft, error) {
	if len(e.former) >= maxChanges {
		return draft{}, fmt.Errorf("%w: its arguments were changed %d times already", ErrInvalidDecision, maxChanges)
	}
	o, p, err := b.changed(ctx, e.outcome, d.Arguments)
	if err != nil {
		return draft{}, fmt.Errorf("%w: %w", ErrInvalidDecision, err)
	}
	o.Voted = voted
	switch d.Fingerprint {
	case o.Fingerprint:
		return b.approve(ctx, e, o, &p, d)
	case e.request.Fingerprint:
		d.Remember, d.Choice = Remember{}, "" // they were for the call as it was
		o.Decision = &d
		next := b.gate.judge(ctx, e, o, &p)
		if next.outcome.State == policy.StatePending {
			next.outcome.Decision, next.outcome.Voted = nil, nil // whoever agreed did not see this
		}
		return next, nil
	}
	return draft{}, ErrWrongCall
}

// after is the context in which a call is prepared on top of what the calls before it would leave.
func (b *Batch) after(ctx context.Context, call string) context.Context {
	ctx = b.gate.turn(ctx)
	for _, o := range b.Outcomes() {
		if o.Call.ID == call {
			break
		}
		b.gate.foresee(ctx, &o)
	}
	return ctx
}

// changed prepares the call of an outcome with other arguments.
func (b *Batch) changed(ctx context.Context, o Outcome, args []byte) (Outcome, Proposal, error) {
	original := o.Original
	if original == nil {
		original = o.Call.Arguments
	}
	o.Call.Arguments = args
	call, err := b.gate.identify(o.Call)
	if err != nil {
		return o, Proposal{}, err
	}
	call, p, err := b.gate.prepare(b.after(ctx, o.Call.ID), call)
	if err != nil {
		return o, p, err
	}
	if o.Original = original; bytes.Equal(original, call.Arguments) {
		o.Original = nil
	}
	o.Call, o.Fingerprint = call, fingerprint(&call, &p)
	return o, p, nil
}

// Preview returns what the request would be with other arguments, without
// changing anything. It has the request's own id, so that its Change with these
// arguments is a yes to the changed call: somebody has seen it. If the changed
// call is blocked or denied, the error says so.
func (b *Batch) Preview(ctx context.Context, requestID string, args []byte) (*Request, error) {
	e, err := b.find(requestID)
	if err != nil {
		return nil, &DecisionError{Request: requestID, Err: err}
	}
	b.mu.Lock()
	now, request := e.outcome, e.request
	b.mu.Unlock()
	if now.State != policy.StatePending {
		return nil, &DecisionError{Request: requestID, Err: b.whoWon(e)}
	}
	o, p, err := b.changed(ctx, now, args)
	if err != nil {
		return nil, &InvalidError{Tool: o.Call.Name(), Err: err}
	}
	r, err := b.preview(ctx, &o, &p)
	if err != nil {
		return nil, err
	}
	r.ID, r.done = request.ID, request.done
	return r, nil
}

func (b *Batch) preview(ctx context.Context, o *Outcome, p *Proposal) (*Request, error) {
	j, err := b.gate.judgement(ctx, o, p, false)
	if err != nil {
		return nil, err
	}
	if !j.State.Runs() && j.State != policy.StatePending {
		out := *o
		out.apply(j)
		return nil, out.Err()
	}
	return b.gate.newRequest(ctx, b, o, p, j)
}

// state returns how a call ends that is answered so.
func (d *Decision) state() policy.State {
	if d.By.Via == policy.ViaMode {
		switch d.Answer {
		case AnswerApprove:
			return policy.StateModeApproved
		case AnswerDeny:
			return policy.StateModeDenied
		}
	}
	return d.Answer.state()
}
