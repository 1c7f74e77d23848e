package approvaltest

import (
	"context"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

type fakeRequest struct {
	request *approval.Request
	settled *approval.Settlement
	problem string
	taken   bool // whoever asked has the answer
	// withdrawn are answers that were taken back.
	withdrawn []policy.Digest
}

func (r *fakeRequest) posted() approval.Posted {
	return approval.Posted{Request: r.request, Settled: r.settled, Problem: r.problem}
}

func (r *fakeRequest) tooLate() error {
	return &approval.SettledError{Request: r.request.ID, Settlement: *r.settled}
}

// NotifyRequests implements [approval.RequestStore].
func (f *Fake) NotifyRequests(changed func()) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	id := f.next
	f.listeners[id] = changed
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, id)
	}
}

func (f *Fake) tell() {
	f.mu.Lock()
	var all []func()
	for _, l := range f.listeners {
		all = append(all, l)
	}
	f.mu.Unlock()
	for _, l := range all {
		l()
	}
}

func (f *Fake) find(id string) *fakeRequest {
	for _, r := range f.requests {
		if r.request.ID == id {
			return r
		}
	}
	return nil
}

// changeRequest changes a request, or fails if nobody posted it.
func (f *Fake) changeRequest(id string, change func(*fakeRequest) error) error {
	f.mu.Lock()
	r, err := f.find(id), error(nil)
	if r == nil {
		err = fmt.Errorf("request %q: %w", id, approval.ErrUnknownRequest)
	} else {
		err = change(r)
	}
	f.mu.Unlock()
	if err == nil {
		f.tell()
	}
	return err
}

// Post implements [approval.RequestStore].
func (f *Fake) Post(_ context.Context, requests ...*approval.Request) error {
	if err := f.post(requests); err != nil {
		return err
	}
	f.tell()
	return nil
}

func (f *Fake) post(requests []*approval.Request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	waits := map[string]int{}
	for _, r := range f.requests {
		if r.settled == nil {
			waits[r.request.Call.Session]++
		}
	}
	var fresh []*fakeRequest
	for _, r := range requests {
		if f.find(r.ID) == nil {
			fresh = append(fresh, &fakeRequest{request: r})
			waits[r.Call.Session]++
		}
		if waits[r.Call.Session] > approval.MaxPending {
			return fmt.Errorf("request %q: %w", r.ID, approval.ErrTooManyPending)
		}
	}
	f.requests = append(f.requests, fresh...)
	return nil
}

// Answer implements [approval.RequestStore].
func (f *Fake) Answer(_ context.Context, d approval.Decision) error {
	if d.At.IsZero() {
		d.At = f.clock.Now()
	}
	return f.changeRequest(d.Request, func(r *fakeRequest) error {
		if r.settled != nil {
			return r.tooLate()
		}
		if err := r.request.Check(d); err != nil {
			return &approval.DecisionError{Request: d.Request, Err: err}
		}
		end := d.Settled()
		r.settled, r.problem = &end, ""
		return nil
	})
}

// Settle implements [approval.Settler].
func (f *Fake) Settle(_ context.Context, request *approval.Request, s approval.Settlement) error {
	f.mu.Lock()
	if f.find(request.ID) == nil {
		f.requests = append(f.requests, &fakeRequest{request: request})
	}
	f.mu.Unlock()
	return f.changeRequest(request.ID, func(r *fakeRequest) error {
		if r.settled != nil && !sameEnd(*r.settled, s) {
			return r.tooLate()
		}
		if r.settled == nil && s.Decision != nil && slices.Contains(r.withdrawn, s.Decision.Digest()) {
			return fmt.Errorf("request %q: %w", r.request.ID, approval.ErrTakenBack)
		}
		r.settled, r.problem, r.taken = &s, "", true
		return nil
	})
}

func sameEnd(a, b approval.Settlement) bool {
	if a.Decision == nil || b.Decision == nil {
		return a.Decision == b.Decision && a.State == b.State && a.By == b.By
	}
	return a.Decision.Digest() == b.Decision.Digest()
}

// TakeBack implements [approval.RequestStore].
func (f *Fake) TakeBack(_ context.Context, id string, answer policy.Digest) error {
	return f.changeRequest(id, func(r *fakeRequest) error {
		switch {
		case r.settled == nil:
			return fmt.Errorf("request %q: %w", id, approval.ErrOpen)
		case r.taken || r.settled.Decision == nil || r.settled.Decision.Digest() != answer:
			return r.tooLate()
		}
		r.settled, r.problem, r.withdrawn = nil, "an answer was taken back", append(r.withdrawn, answer)
		return nil
	})
}

// Reopen implements [approval.Settler].
func (f *Fake) Reopen(_ context.Context, request *approval.Request, why string) error {
	return f.changeRequest(request.ID, func(r *fakeRequest) error {
		r.settled, r.problem, r.taken = nil, why, false
		return nil
	})
}

// Posted implements [approval.RequestStore].
func (f *Fake) Posted(_ context.Context, id string) (approval.Posted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.find(id)
	if r == nil {
		return approval.Posted{}, fmt.Errorf("request %q: %w", id, approval.ErrUnknownRequest)
	}
	return r.posted(), nil
}

// Open implements [approval.RequestStore].
func (f *Fake) Open(_ context.Context, session string) (out []approval.Posted, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.requests {
		if r.settled == nil && (session == "" || r.request.Call.Session == session) && f.awaited(r.request) {
			out = append(out, r.posted())
		}
	}
	return out, nil
}

// awaited reports whether somebody can still wait for the request. The lock is held.
func (f *Fake) awaited(r *approval.Request) bool {
	if _, begun := f.sessions[r.Call.Session]; begun {
		if _, alive := f.session(r.Call.Session); !alive {
			return false
		}
	}
	return r.Origin.Process == approval.Process{} || f.alive(sessions.Process(r.Origin.Process))
}

// Await implements [approval.RequestStore].
func (f *Fake) Await(ctx context.Context, ids ...string) (approval.Posted, error) {
	changed := make(chan struct{}, 1)
	defer f.NotifyRequests(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for {
		for _, id := range ids {
			p, err := f.Posted(ctx, id)
			if err != nil || p.Settled != nil {
				return p, err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return approval.Posted{}, context.Cause(ctx)
		}
	}
}
