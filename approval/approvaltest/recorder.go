package approvaltest

import (
	"context"
	"slices"
	"sync"

	"github.com/assent-dev/assent/approval"
)

// A Recorder keeps events in memory. The zero Recorder is ready. It is safe for
// concurrent use.
type Recorder struct {
	mu     sync.Mutex
	events []approval.Event
	fail   func(approval.Event) error
}

var _ approval.Recorder = (*Recorder)(nil)

// Record keeps the event, unless it was told to fail.
func (r *Recorder) Record(_ context.Context, e approval.Event) error {
	r.mu.Lock()
	fail := r.fail
	r.mu.Unlock()
	if fail != nil {
		if err := fail(e); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

// FailWith makes every record fail with err; nil makes them succeed again.
func (r *Recorder) FailWith(err error) {
	r.FailIf(func(approval.Event) error { return err })
}

// FailIf makes the records fail for which f returns an error. F may act as well:
// it is called before the event is kept.
func (r *Recorder) FailIf(f func(approval.Event) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = f
}

// Events returns what was recorded, in order.
func (r *Recorder) Events() []approval.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Of returns what was recorded about the call, in order.
func (r *Recorder) Of(callID string) []approval.Event {
	return slices.DeleteFunc(r.Events(), func(e approval.Event) bool { return e.CallID != callID })
}
