package approval

import (
	"context"
	"errors"
	"time"
)

// First asks all the approvers at once. For each request the first answer wins;
// the others are withdrawn. An approver that fails leaves the question to the
// others.
func First(approvers ...Approver) BatchApprover { return first(approvers) }

type first []Approver

func (f first) Approve(ctx context.Context, r *Request) (Decision, error) {
	return Decision{}, errors.New("approval: First is asked about batches")
}

func (f first) ApproveBatch(ctx context.Context, b *Batch) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error, len(f))
	for _, a := range f {
		go func() { results <- askApprover(ctx, a, b) }()
	}
	idle := make(chan struct{})
	go func() {
		b.wait(ctx)
		close(idle)
	}()
	var errs []error
	for left := len(f); left > 0; {
		select {
		case err := <-results:
			left--
			errs = append(errs, err)
		case <-idle:
			// All is answered, or ctx is done: nobody needs to ask any longer.
			cancel()
			for ; left > 0; left-- {
				<-results
			}
			return context.Cause(ctx)
		}
	}
	return errors.Join(errs...)
}

// wait returns when nothing is pending or ctx is done.
func (b *Batch) wait(ctx context.Context) {
	for {
		pending := b.Pending()
		if len(pending) == 0 {
			return
		}
		select {
		case <-pending[0].Done():
		case <-ctx.Done():
			return
		}
	}
}

// Timeout turns silence into a denial: what a has not answered after the time
// is expired.
func Timeout(after time.Duration, a Approver) BatchApprover { return timeout{after, a} }

type timeout struct {
	after time.Duration
	inner Approver
}

func (t timeout) Approve(ctx context.Context, r *Request) (Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, t.after)
	defer cancel()
	d, err := t.inner.Approve(ctx, r)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return r.decision(Expire, ""), nil
	}
	return d, err
}

func (t timeout) ApproveBatch(ctx context.Context, b *Batch) error {
	limited, cancel := context.WithTimeout(ctx, t.after)
	defer cancel()
	err := askApprover(limited, t.inner, b)
	if ctx.Err() != nil || !errors.Is(limited.Err(), context.DeadlineExceeded) {
		return err
	}
	for _, r := range b.Pending() {
		if e := b.Resolve(ctx, r.decision(Expire, "")); e != nil && !errors.Is(e, ErrSettled) {
			return e
		}
	}
	return nil
}

// Everything is the approver for approve-all: it says yes, except to what only
// a person may answer.
var Everything Approver = ApproverFunc(func(_ context.Context, r *Request) (Decision, error) {
	d := r.Approve("")
	if r.PersonOnly {
		d = r.Deny("only a person may answer this, and approve-all is not one")
	}
	d.By.Via = ViaMode
	return d, nil
})

// Nothing is the approver for strict: it says no.
var Nothing Approver = ApproverFunc(func(_ context.Context, r *Request) (Decision, error) {
	d := r.Deny("strict mode refuses what would have to be asked")
	d.By.Via = ViaMode
	return d, nil
})
