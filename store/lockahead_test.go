package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/store"
)

// A file of the lock that is left from a database with more behind it keeps no waiter asleep.
func TestAWaiterIsNotKeptAsleepByAnOlderLock(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	open := func(dir string) *store.Store {
		s, err := store.Open(t.Context(), dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := open(dir)
	rs := approvaltest.Requests(t, 1, "s")
	if err := s.Post(t.Context(), rs...); err != nil {
		t.Fatal(err)
	}
	o := open(other)
	for range 20 {
		if err := o.Post(t.Context(), approvaltest.Requests(t, 2, "s")...); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(other, "assent.db-lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "assent.db-lock"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	waiter := open(dir)
	ctx, end := context.WithTimeout(t.Context(), 8*time.Second)
	defer end()
	done := make(chan error, 1)
	go func() { _, err := waiter.Await(ctx, rs[0].ID); done <- err }()
	<-time.After(1500 * time.Millisecond) // the waiter looks each second
	if err := s.Answer(t.Context(), rs[0].Approve("")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := <-done; err != nil || time.Since(start) > 3*time.Second {
		t.Errorf("it waited %v: %v", time.Since(start), err)
	}
}
