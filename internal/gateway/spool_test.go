package gateway_test

import (
	"errors"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/policy"
)

// What the store did not take is recorded as soon as it takes something again, and does not
// leave the spool before.
func TestLaterTriesAgainWhatTheStoreDidNotTake(t *testing.T) {
	r := newFull()
	broken := errors.New("full")
	r.fail.Store(&broken)
	told := make(chan struct{}, 100)
	spool, dir := newSpool(t)
	l := gateway.NewLater(r, spool, func(error) { told <- struct{}{} })
	if err := l.Record(t.Context(), event(approval.EventStarted, "a", policy.StateAutoApproved)); err != nil {
		t.Fatal(err)
	}
	<-told
	r.fail.Store(nil)
	for _, id := range []string{"b", "c", "d"} { // each turns to the other half of the spool
		if err := l.Record(t.Context(), event(approval.EventStarted, id, policy.StateApproved)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, e := range r.all() {
		got[e.CallID]++
	}
	if len(got) != 4 || got["a"] != 1 {
		t.Errorf("recorded %v, want each of four once", got)
	}
	if text, _ := spooled(t, dir); text != "" {
		t.Errorf("the spool still has %s", text)
	}
}

// Programs begin and recover at the same time: no new spool is taken for one that was left
// behind, and nobody fails because another was faster.
func TestRecoveringLeavesNewSpoolsAlone(t *testing.T) {
	dir, r := t.TempDir(), newFull()
	stop, stopped := make(chan struct{}), make(chan struct{}, 2)
	for range 2 {
		go func() {
			defer func() { stopped <- struct{}{} }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := gateway.RecoverStarts(t.Context(), dir, r); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for range 200 {
		s, err := gateway.OpenSpool(dir)
		if err != nil {
			t.Error(err)
			break
		}
		if _, files := spooled(t, dir); files != 2 {
			t.Errorf("the spool has %d files", files)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
	<-stopped
}
