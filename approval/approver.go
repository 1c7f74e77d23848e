package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assent-dev/assent/policy"
)

// An Approver is who is asked: a terminal, an inbox, another program.
//
// Approve answers one request. It returns when ctx is done; then the cause of
// ctx says why, [*WithdrawnError] if somebody else was faster. An answer without
// a request id and fingerprint is taken as one for r. An error, a panic and the
// zero Decision refuse.
type Approver interface {
	Approve(ctx context.Context, r *Request) (Decision, error)
}

// A BatchApprover can be asked about the calls of a turn together. ApproveBatch
// answers what b has pending with [Batch.Resolve], in any order, until nothing
// is pending; what it leaves open is refused.
type BatchApprover interface {
	Approver
	ApproveBatch(ctx context.Context, b *Batch) error
}

// ApproverFunc makes an Approver of a function.
type ApproverFunc func(ctx context.Context, r *Request) (Decision, error)

// Approve calls f.
func (f ApproverFunc) Approve(ctx context.Context, r *Request) (Decision, error) { return f(ctx, r) }

// A WithdrawnError tells an approver that its question needs no answer any
// more, and how it was answered.
type WithdrawnError struct {
	Request string
	State   policy.State
	By      policy.Who
}

func (e *WithdrawnError) Error() string {
	if e.State == policy.StatePending {
		return fmt.Sprintf("request %q is asked again as another", e.Request)
	}
	return fmt.Sprintf("request %q was %s by %s", e.Request, e.State, e.By)
}

// grace is how long an approver may take to return after it was told to.
const grace = 2 * time.Second

// askApprover has the approver answer the batch. It returns when the approver
// does, or soon after ctx is done, whatever the approver does.
func askApprover(ctx context.Context, a Approver, b *Batch) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the approver ended without returning")
		defer func() { done <- err }()
		err = askSafely(ctx, a, b)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return awaitUntil(done, context.Cause(ctx))
	}
}

// awaitUntil waits for a little while, and gives up with the error late.
func awaitUntil(done <-chan error, late error) error {
	patience, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-patience.Done():
		return late
	}
}

// askSafely turns a panic into an error.
func askSafely(ctx context.Context, a Approver, b *Batch) error {
	return safely("the approver", func() error {
		if batch, ok := a.(BatchApprover); ok {
			return batch.ApproveBatch(ctx, b)
		}
		return askEach(ctx, a, b)
	})
}

// maxAsked is how many questions one batch may come to: its calls, with changes
// and second thoughts. An approver that never settles anything is given up then.
const maxAsked = 1000

// askEach puts the pending requests to an approver that only knows single ones.
// A request that it fails to answer is left open.
func askEach(ctx context.Context, a Approver, b *Batch) error {
	failed := map[string]bool{}
	var errs []error
	for asked := 0; ctx.Err() == nil && asked < maxAsked; asked++ {
		r := nextRequest(b, failed)
		if r == nil {
			break
		}
		if err := askOne(ctx, a, b, r); err != nil {
			failed[r.ID] = true
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func nextRequest(b *Batch, failed map[string]bool) *Request {
	for _, r := range b.Pending() {
		if !failed[r.ID] {
			return r
		}
	}
	return nil
}

// askOne asks about one request, and withdraws the question if it is answered
// elsewhere.
func askOne(ctx context.Context, a Approver, b *Batch, r *Request) error {
	asking, cancel := b.questionContext(ctx, r)
	defer cancel()
	d, err := approveSafely(asking, a, r)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // whatever it says, it came too late
	}
	if err == nil {
		err = b.accept(ctx, r, d)
	}
	select {
	case <-r.Done():
		return nil // somebody answered
	default:
		return err
	}
}

// accept takes what an approver returned for r.
func (b *Batch) accept(ctx context.Context, r *Request, d Decision) error {
	if d.Request == "" && d.Fingerprint.IsZero() {
		d.Request, d.Fingerprint = r.ID, r.Fingerprint
	}
	if d.Request != r.ID {
		return fmt.Errorf("request %q: the answer is for request %q", r.ID, d.Request)
	}
	return b.Resolve(ctx, d)
}

// A question is the context of a question to an approver. Its parent's
// deadline can be seen; when the parent ends, the question's own fate comes
// first as the cause.
type question struct {
	context.Context
	parent context.Context
}

func (q question) Deadline() (time.Time, bool) { return q.parent.Deadline() }

// questionContext returns a context that is done when ctx is, or when the
// request needs no answer any more; then its cause is a [*WithdrawnError].
func (b *Batch) questionContext(ctx context.Context, r *Request) (context.Context, context.CancelFunc) {
	asking, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-r.Done():
		case <-ctx.Done():
		case <-asking.Done():
		}
		select {
		case <-r.Done():
			cancel(b.withdrawn(r))
		default:
			cancel(context.Cause(ctx))
		}
	}()
	return question{asking, ctx}, func() { cancel(nil) }
}

func approveSafely(ctx context.Context, a Approver, r *Request) (d Decision, err error) {
	err = safely("the approver", func() (err error) {
		d, err = a.Approve(ctx, r)
		return err
	})
	return d, err
}

// withdrawn says how a request was answered.
func (b *Batch) withdrawn(r *Request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if e.outcome.Request != r.ID {
			continue
		}
		w := &WithdrawnError{Request: r.ID, State: e.outcome.State}
		if e.outcome.Decision != nil {
			w.By = e.outcome.Decision.By
		} else {
			w.By = policy.Who{Via: e.outcome.via()}
		}
		return w
	}
	return &WithdrawnError{Request: r.ID, State: policy.StatePending}
}
