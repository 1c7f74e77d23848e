package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// TestWhatAPersonDecidedIsOnTheDiskFirst looks whether the log still has to be
// brought to the disk after a record.
func TestWhatAPersonDecidedIsOnTheDiskFirst(t *testing.T) {
	started := eventOf(0)
	started.Kind, started.Stage = approval.EventStarted, approval.StageExecuting
	decided := started
	decided.State = policy.StateApproved
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

func TestSyncOfALog(t *testing.T) {
	folder := t.TempDir()
	if err := store.Sync(folder); err != nil {
		t.Errorf("there is no log: %v", err)
	}
	s := openStore(t, folder, store.Options{})
	if err := s.AddRules(t.Context(), numbered(1)); err != nil {
		t.Fatal(err)
	}
	if err := store.Sync(folder); err != nil {
		t.Error(err)
	}
	other := t.TempDir()
	log := filepath.Join(other, store.FileName+"-wal")
	if err := os.Symlink(log, log); err != nil {
		t.Fatal(err)
	}
	if err := store.Sync(other); err == nil {
		t.Error("a log that cannot be opened is on the disk")
	}
}
