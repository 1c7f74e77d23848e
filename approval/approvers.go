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

// Approve asks all about one request. The first answer wins.
func (f first) Approve(ctx context.Context, r *Request) (Decision, error) {
	type reply struct {
		decision Decision
		err      error
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	replies := make(chan reply, len(f))
	for _, a := range f {
		go func() {
			d, err := approveSafely(ctx, a, r)
			replies <- reply{d, err}
		}()
	}
	errs := []error{errors.New("no approver gave an answer")}
	for range f {
		select {
		case got := <-replies:
			if got.err == nil {
				cancel(&WithdrawnError{Request: r.ID, State: got.decision.state(), By: got.decision.By})
				return got.decision, nil
			}
			errs = append(errs, got.err)
		case <-ctx.Done():
			return Decision{}, context.Cause(ctx)
		}
	}
	return Decision{}, errors.Join(errs...)
}

func (f first) ApproveBatch(ctx context.Context, b *Batch) error {
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make(chan error, len(f))
	for _, a := range f {
		go func() { results <- askApprover(asking, a, b) }()
	}
	idle := make(chan *Request, 1)
	go func() { idle <- b.wait(asking) }()
	var errs []error
	for left := len(f); left > 0; {
		select {
		case err := <-results:
			left--
			errs = append(errs, err)
		case last := <-idle:
			// All is answered, or ctx is done: nobody needs to ask any longer.
			if last != nil {
				cancel(b.withdrawn(last))
			}
			cancel(nil)
			for ; left > 0; left-- {
				<-results
			}
			return context.Cause(ctx)
		}
	}
	return errors.Join(errs...)
}

// wait returns when nothing is pending or ctx is done, with the request that it
// waited for last.
func (b *Batch) wait(ctx context.Context) (last *Request) {
	for {
		pending := b.Pending()
		if len(pending) == 0 {
			return last
		}
		last = pending[0]
		select {
		case <-last.Done():
		case <-ctx.Done():
			return last
		}
	}
}

// Timeout turns silence into a denial: what a has not answered after the time
// is expired.
func Timeout(after time.Duration, a Approver) BatchApprover { return timeout{after, a} }

// errTimedOut is the cause of a context that [Timeout] has ended.
var errTimedOut = errors.New("nobody answered in time")

type timeout struct {
	after time.Duration
	inner Approver
}

func (t timeout) Approve(ctx context.Context, r *Request) (Decision, error) {
	limited, cancel := context.WithTimeoutCause(ctx, t.after, errTimedOut)
	defer cancel()
	d, err := first{t.inner}.Approve(limited, r)
	switch {
	case ctx.Err() != nil:
		return Decision{}, context.Cause(ctx)
	case limited.Err() != nil:
		return r.decision(AnswerExpire, ""), nil
	}
	return d, err
}

func (t timeout) ApproveBatch(ctx context.Context, b *Batch) error {
	limited, cancel := context.WithTimeoutCause(ctx, t.after, errTimedOut)
	defer cancel()
	err := askApprover(limited, t.inner, b)
	if ctx.Err() != nil || !errors.Is(limited.Err(), context.DeadlineExceeded) {
		return err
	}
	for _, r := range b.Pending() {
		if e := b.Resolve(ctx, r.decision(AnswerExpire, "")); e != nil && !errors.Is(e, ErrSettled) {
			return e
		}
	}
	return nil
}
