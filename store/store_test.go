package store_test

import (
	"sync/atomic"
	"testing"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// openStore opens the store in a folder until the test ends.
func openStore(t testing.TB, folder string, opt store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), folder, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

// openPair opens one store twice, as two processes do; the second may be a brief one.
func openPair(t *testing.T, brief bool) approvaltest.Pair {
	var alive atomic.Value
	alive.Store(func(sessions.Process) bool { return true })
	p := approvaltest.Pair{Clock: new(approvaltest.Clock), Alive: func(f func(sessions.Process) bool) { alive.Store(f) }}
	opt := store.Options{
		Clock: p.Clock.Now,
		Alive: func(p sessions.Process) bool { return alive.Load().(func(sessions.Process) bool)(p) },
	}
	folder := t.TempDir()
	p.One = openStore(t, folder, opt)
	opt.Brief = brief
	p.Two = openStore(t, folder, opt)
	return p
}

func TestStore(t *testing.T) {
	approvaltest.TestStore(t, func(t *testing.T) approvaltest.Pair { return openPair(t, false) })
}

func TestABriefStore(t *testing.T) {
	approvaltest.TestStore(t, func(t *testing.T) approvaltest.Pair { return openPair(t, true) })
}
