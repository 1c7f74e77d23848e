package store_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/store"
)

// seesRules looks how many rules a store believes in.
func seesRules(t *testing.T, s *store.Store, want int) {
	t.Helper()
	if n, err := countRules(t.Context(), s); err != nil || n != want {
		t.Fatalf("%d rules, %v; want %d", n, err, want)
	}
}

func addRule(t *testing.T, s *store.Store, i int) {
	t.Helper()
	if err := s.AddRules(t.Context(), numbered(i)); err != nil {
		t.Fatal(err)
	}
}

func lockFile(folder string) string { return filepath.Join(folder, store.FileName+"-lock") }

// TestChangesAreSeenAtOnce has two programs change rules in turn. Each reads what
// the other wrote, though it knew what was there before.
func TestChangesAreSeenAtOnce(t *testing.T) {
	folder := t.TempDir()
	one, two := openStore(t, folder, store.Options{Brief: true}), openStore(t, folder, store.Options{})
	for i := 0; i < 20; i += 2 {
		addRule(t, one, i)
		seesRules(t, two, i+1)
		addRule(t, two, i+1)
		seesRules(t, one, i+2)
	}
}

// TestAWriterThatWasKilledIsNoticed leaves the count as a writer does that is
// killed after its change could be seen, and before it said so.
func TestAWriterThatWasKilledIsNoticed(t *testing.T) {
	for _, brief := range []bool{false, true} {
		folder := t.TempDir()
		one, two := openStore(t, folder, store.Options{Brief: brief}), openStore(t, folder, store.Options{})
		addRule(t, one, 0)
		seesRules(t, one, 1)
		addRule(t, two, 1)
		setCount(t, folder, -1)
		seesRules(t, one, 2)
		addRule(t, two, 2)
		seesRules(t, one, 3)
		addRule(t, one, 3)
		setCount(t, folder, -1)
		seesRules(t, one, 4)
	}
}

// TestWatchersHearOfAWriterThatWasKilled waits for a change that nobody tells of.
func TestWatchersHearOfAWriterThatWasKilled(t *testing.T) {
	folder := t.TempDir()
	one, two := openStore(t, folder, store.Options{}), openStore(t, folder, store.Options{})
	told := make(chan struct{}, 10)
	defer two.Notify(func() { told <- struct{}{} })()
	addRule(t, one, 0)
	<-told // so it watches
	if err := one.DieWriting(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-told
	addRule(t, one, 1)
	<-told
}

// setCount adds to the count of writes.
func setCount(t *testing.T, folder string, add int64) {
	t.Helper()
	data, err := os.ReadFile(lockFile(folder))
	if err != nil || len(data) < 8 {
		t.Fatalf("the count is %d bytes, %v", len(data), err)
	}
	n := binary.BigEndian.Uint64(data)
	if n%2 != 0 {
		t.Fatalf("the count is %d while nobody writes", n)
	}
	if err := os.WriteFile(lockFile(folder), binary.BigEndian.AppendUint64(nil, n+uint64(add)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTheLockFileMayBeMoved moves it away. Those who have it open notice that soon.
func TestTheLockFileMayBeMoved(t *testing.T) {
	folder := t.TempDir()
	one, two := openStore(t, folder, store.Options{}), openStore(t, folder, store.Options{})
	addRule(t, one, 0)
	seesRules(t, two, 1)
	if err := os.Rename(lockFile(folder), lockFile(folder)+".old"); err != nil {
		t.Fatal(err)
	}
	addRule(t, one, 1)
	for n := 0; n != 2; {
		var err error
		if n, err = countRules(t.Context(), two); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheLockFileMayBeRemoved removes what looks like a lock that was forgotten.
// Those who have it open go on to see each other's changes.
func TestTheLockFileMayBeRemoved(t *testing.T) {
	folder := t.TempDir()
	one, two := openStore(t, folder, store.Options{Brief: true}), openStore(t, folder, store.Options{})
	for i := 0; i < 8; i += 2 {
		addRule(t, one, i)
		seesRules(t, two, i+1)
		if err := os.Remove(lockFile(folder)); err != nil {
			t.Fatal(err)
		}
		addRule(t, two, i+1)
		seesRules(t, one, i+2)
	}
}
