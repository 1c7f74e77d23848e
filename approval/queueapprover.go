package approval

import (
	"context"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/policy"
)

// Queue returns an approver that posts its questions to a store and waits for
// answers from other processes. The gate that asks it needs the same store as
// its [Config.Requests]: then whoever answers in this process, beside it under
// [First], and whoever answers elsewhere cannot both win.
func Queue(store RequestStore) BatchApprover { return queue{store} }

type queue struct{ store RequestStore }

// Collect hands the answers that a store has to the batch, without waiting for
// more: what [Queue] does for a program that ended meanwhile. An answer that has
// no effect is reported, and its request waits again.
func Collect(ctx context.Context, store RequestStore, b *Batch) error {
	var errs []error
	for _, r := range b.Pending() {
		p, err := store.Posted(ctx, r.ID)
		switch {
		case errors.Is(err, ErrUnknownRequest):
		case err != nil:
			errs = append(errs, err)
		case p.Settled != nil:
			errs = append(errs, queue{store}.take(ctx, b, p))
		}
	}
	return errors.Join(errs...)
}

// AnswerApprove posts the request and waits.
func (q queue) Approve(ctx context.Context, r *Request) (Decision, error) {
	if err := q.post(ctx, r); err != nil {
		return Decision{}, err
	}
	p, err := q.store.Await(ctx, r.ID)
	if ctx.Err() != nil {
		var answered *WithdrawnError
		if !errors.As(context.Cause(ctx), &answered) { // else the gate settles it with that answer
			q.withdraw(ctx, r, Settlement{State: leftOpen(ctx)})
		}
		return Decision{}, context.Cause(ctx)
	}
	if err != nil {
		return Decision{}, err
	}
	return p.answer()
}

// ApproveBatch posts what is pending and takes the answers as they come, until
// nothing is pending. What it leaves open is withdrawn.
func (q queue) ApproveBatch(ctx context.Context, b *Batch) error {
	posted := map[string]*Request{}
	defer func() {
		for _, r := range posted {
			q.withdraw(ctx, r, b.settlement(ctx, r))
		}
	}()
	for {
		pending := b.Pending()
		if len(pending) == 0 {
			return nil
		}
		if err := q.postNew(ctx, b, posted, pending); err != nil {
			return err
		}
		p, err := q.next(ctx, pending)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, context.Canceled): // somebody answered in this process
		case err != nil:
			return err
		default:
			if err := q.take(ctx, b, p); err != nil {
				return err
			}
		}
	}
}

// postNew posts what is not posted yet, and withdraws what no longer waits.
func (q queue) postNew(ctx context.Context, b *Batch, posted map[string]*Request, pending []*Request) error {
	waits := make(map[string]bool, len(pending))
	var fresh []*Request
	for _, r := range pending {
		waits[r.ID] = true
		if posted[r.ID] == nil {
			fresh = append(fresh, r)
		}
	}
	for id, r := range posted {
		if !waits[id] {
			q.withdraw(ctx, r, b.settlement(ctx, r))
			delete(posted, id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	for _, r := range fresh {
		posted[r.ID] = r
	}
	return q.post(ctx, fresh...)
}

// post posts requests that can be shown. Nobody may agree to what cannot.
func (q queue) post(ctx context.Context, requests ...*Request) error {
	for _, r := range requests {
		if _, err := r.View(ctx); err != nil {
			return fmt.Errorf("request %q cannot be shown: %w", r.ID, err)
		}
	}
	return q.store.Post(ctx, requests...)
}

// next waits for an answer to one of the requests. The error is
// [context.Canceled] if one of them needs none any more.
func (q queue) next(ctx context.Context, pending []*Request) (Posted, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	ids := make([]string, len(pending))
	for i, r := range pending {
		ids[i] = r.ID
		go func() {
			select {
			case <-r.Done():
				cancel()
			case <-waiting.Done():
			}
		}()
	}
	p, err := q.store.Await(waiting, ids...)
	if err == nil {
		return p, nil
	}
	if waiting.Err() != nil {
		err = context.Canceled
	}
	return Posted{}, err
}

// take hands an answer to the batch. One that has no effect there is taken back,
// and the question stays.
func (q queue) take(ctx context.Context, b *Batch, p Posted) error {
	// Whoever answers in this process settles the request first, and takes that back
	// if the answer has no effect.
	b.quiet(p.Request.ID)
	p, err := q.store.Posted(ctx, p.Request.ID)
	if err != nil || p.Settled == nil {
		return err // without one it waits again
	}
	d, err := p.answer()
	if err != nil {
		return err
	}
	err = b.Resolve(ctx, d)
	if err == nil || errors.Is(err, ErrSettled) || errors.Is(err, ErrWrongCall) {
		return nil
	}
	for _, r := range b.Pending() {
		if r.ID == d.Request {
			return q.reopen(ctx, r, d, err)
		}
	}
	return nil
}

// reopen takes back an answer that had no effect. If the gate has done so already, what
// stands there now is the next answer, and stays.
func (q queue) reopen(ctx context.Context, r *Request, d Decision, why error) error {
	p, err := q.store.Posted(ctx, r.ID)
	if err != nil || p.Settled == nil || p.Settled.Decision == nil || p.Settled.Decision.Digest() != d.Digest() {
		return err
	}
	return q.store.Reopen(ctx, r, why.Error())
}

// withdraw ends a question that nobody here waits for any more. If it has been
// answered meanwhile, it stays so.
func (q queue) withdraw(ctx context.Context, r *Request, s Settlement) {
	if err := q.store.Settle(context.WithoutCancel(ctx), r, s); err != nil {
		return // the question stays until its session ends, and no answer to it has an effect
	}
}

// answer returns the decision of a request that is no longer open, if it has a
// whole one.
func (p *Posted) answer() (Decision, error) {
	switch {
	case p.Settled == nil:
		return Decision{}, fmt.Errorf("request %q: %w", p.Request.ID, ErrOpen)
	case p.Settled.Decision == nil || p.Settled.Partial:
		return Decision{}, &WithdrawnError{Request: p.Request.ID, State: p.Settled.State, By: p.Settled.By}
	}
	return *p.Settled.Decision, nil
}

// leftOpen says how a question ends that nobody has answered.
func leftOpen(ctx context.Context) policy.State {
	if errors.Is(context.Cause(ctx), errTimedOut) {
		return policy.StateExpired
	}
	return policy.StateDismissed
}

// settlement says how a request that was posted has ended.
func (b *Batch) settlement(ctx context.Context, r *Request) Settlement {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		switch o := &e.outcome; {
		case o.Request != r.ID || o.State == policy.StatePending:
		case o.Decision != nil && o.Decision.Request == r.ID:
			return o.Decision.Settled()
		default:
			return Settlement{State: o.State, By: policy.Who{Via: o.via()}}
		}
	}
	return Settlement{State: leftOpen(ctx)} // or asked again as another
}
