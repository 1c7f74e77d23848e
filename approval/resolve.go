package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	e, err := b.find(d.Request)
	if err != nil {
		return err
	}
	if !b.take(e) {
		return b.whoWon(e)
	}
	d.At = b.gate.cfg.Clock()
	if d.By.Via == "" {
		d.By.Via = ViaProgram
	}
	next, err := b.answer(ctx, e, d)
	if err != nil {
		b.giveBack(e)
		return err
	}
	b.commit(e, next)
	if d.Remember.Keep != KeepNone {
		b.gate.resettle(ctx)
	}
	return nil
}

func (b *Batch) find(id string) (*entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		switch {
		case e.request == nil || id == "":
		case e.request.ID == id:
			return e, nil
		case slices.Contains(e.former, id):
			return nil, fmt.Errorf("%w: what was shown has changed, and it is asked again as %q", ErrWrongCall, e.request.ID)
		}
	}
	return nil, ErrUnknownRequest
}

// whoWon says by whom the request was answered before.
func (b *Batch) whoWon(e *entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := &e.outcome
	switch {
	case o.State == Pending:
		return fmt.Errorf("%w: another answer is being recorded", ErrSettled)
	case o.Decision != nil:
		return fmt.Errorf("%w: %s by %s", ErrSettled, o.State, o.Decision.By)
	}
	return fmt.Errorf("%w: %s", ErrSettled, o.State)
}

// String returns who answered, for a sentence.
func (w Who) String() string {
	text := w.User
	if text == "" {
		text = "somebody"
	}
	if w.Host != "" {
		text += " on " + w.Host
	}
	if w.Via != "" {
		text += " (" + string(w.Via) + ")"
	}
	return text
}

// answer drafts what the decision makes of the entry, which is taken.
func (b *Batch) answer(ctx context.Context, e *entry, d Decision) (draft, error) {
	if err := d.validate(e.request); err != nil {
		return draft{}, err
	}
	if d.Arguments != nil {
		return b.change(ctx, e, d)
	}
	if d.Fingerprint != e.request.Fingerprint {
		return draft{}, ErrWrongCall
	}
	if d.Answer == Approve {
		return b.approve(ctx, e, e.outcome, e.proposal, d)
	}
	if err := b.gate.remember(ctx, e.request, d); err != nil {
		return draft{}, err
	}
	next := draft{outcome: e.outcome, proposal: e.proposal}
	o := &next.outcome
	o.State, o.Decision, o.Why = d.state(), &d, ""
	o.Stage = o.State.Stage()
	switch {
	case d.Answer == NoAnswer:
		o.Why = "no answer was given"
	case d.By.Via == ViaMode:
		o.Why = d.Note
	}
	b.gate.settle(ctx, &next, e.request)
	return next, nil
}

// approve drafts a person's yes to exactly the call of o. What is blocked or
// denied by now stays so.
func (b *Batch) approve(ctx context.Context, e *entry, o Outcome, p *Proposal, d Decision) (draft, error) {
	j, err := b.gate.judgement(ctx, &o, p, true)
	if err != nil {
		return draft{}, err
	}
	o.apply(j)
	o.Acts = slices.Clone(p.Acts)
	next := draft{outcome: o, proposal: p}
	if !j.State.Runs() {
		b.gate.settle(ctx, &next, e.request)
		return next, nil
	}
	request := e.request
	if o.Fingerprint != request.Fingerprint {
		if request, err = b.preview(ctx, &o, p); err != nil {
			return draft{}, err
		}
		if err := d.validate(request); err != nil {
			return draft{}, err
		}
	}
	if p.Once && d.Remember.Keep == KeepNone && !request.NoSession {
		d.Remember.Keep = KeepSession
	}
	if err := b.gate.remember(ctx, request, d); err != nil {
		return draft{}, err
	}
	next.outcome.Decision = &d
	next.outcome.State, next.outcome.Stage = d.state(), StageApproved
	return next, nil
}

// change drafts an approval with other arguments. The changed call is prepared
// and judged like any other. If the decision is bound to its fingerprint, it is
// its yes; otherwise the person is shown the changed call.
func (b *Batch) change(ctx context.Context, e *entry, d Decision) (draft, error) {
	o, p, err := b.changed(ctx, e.outcome, d.Arguments)
	if err != nil {
		return draft{}, fmt.Errorf("%w: %w", ErrInvalidDecision, err)
	}
	switch d.Fingerprint {
	case o.Fingerprint:
		return b.approve(ctx, e, o, &p, d)
	case e.request.Fingerprint:
		d.Remember = Remember{}
		o.Decision = &d
		next := b.gate.judge(ctx, b, o, &p)
		if next.outcome.State == Pending {
			next.outcome.Decision = nil
		}
		return next, nil
	}
	return draft{}, ErrWrongCall
}

// changed prepares the call of an outcome with other arguments.
func (b *Batch) changed(ctx context.Context, o Outcome, args []byte) (Outcome, Proposal, error) {
	if o.Original == nil {
		o.Original = o.Call.Arguments
	}
	o.Call.Arguments = args
	call, p, err := b.gate.prepare(ctx, o.Call)
	if err != nil {
		return o, p, err
	}
	o.Call = call
	o.Fingerprint = fingerprint(&o.Call, &p)
	return o, p, nil
}

// Preview returns what the request would be with other arguments, without
// changing anything. A decision that carries these arguments and the preview's
// fingerprint is a yes to the changed call: somebody has seen it. If the changed
// call is blocked or denied, the error says so.
func (b *Batch) Preview(ctx context.Context, requestID string, args []byte) (*Request, error) {
	e, err := b.find(requestID)
	if err != nil {
		return nil, &DecisionError{Request: requestID, Err: err}
	}
	b.mu.Lock()
	now := e.outcome
	b.mu.Unlock()
	o, p, err := b.changed(ctx, now, args)
	if err != nil {
		return nil, &InvalidError{Tool: o.Call.Name(), Err: err}
	}
	return b.preview(ctx, &o, &p)
}

func (b *Batch) preview(ctx context.Context, o *Outcome, p *Proposal) (*Request, error) {
	j, err := b.gate.judgement(ctx, o, p, false)
	if err != nil {
		return nil, err
	}
	if !j.State.Runs() && j.State != Pending {
		out := *o
		out.apply(j)
		return nil, out.Err()
	}
	return b.gate.newRequest(b, o, p, j), nil
}

// state returns how a call ends that is answered so.
func (d *Decision) state() State {
	if d.By.Via == ViaMode {
		switch d.Answer {
		case Approve:
			return ModeApproved
		case Refuse:
			return ModeDenied
		}
	}
	return d.Answer.state()
}
