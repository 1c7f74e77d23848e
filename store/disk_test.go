package store_test

import (
	"runtime"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store"
)

// TestWhatAPersonDecidedIsOnTheDiskFirst looks whether the log still has to be
// brought to the disk after a record.
func TestWhatAPersonDecidedIsOnTheDiskFirst(t *testing.T) {
	started := eventOf(0)
	started.Kind, started.Stage = approval.Started, approval.StageExecuting
	decided := started
	decided.State = approval.Approved
	s := openStore(t, t.TempDir(), store.Options{})
	if err := s.Record(t.Context(), started); err != nil {
		t.Fatal(err)
	}
	for s.Dirty() { // until it is brought there by itself
		runtime.Gosched()
	}
	if err := s.Record(t.Context(), decided); err != nil {
		t.Fatal(err)
	}
	if s.Dirty() {
		t.Error("the call would start before its record is on the disk")
	}
	if err := s.Record(t.Context(), started); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil || s.Dirty() {
		t.Errorf("closing left something that is not on the disk (%v)", err)
	}
	all := openStore(t, t.TempDir(), store.Options{SyncAll: true})
	if err := all.Record(t.Context(), started); err != nil {
		t.Fatal(err)
	}
	if all.Dirty() {
		t.Error("with fsync all, a record is not on the disk")
	}
}
