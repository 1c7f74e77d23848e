package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTheBellRings goes on hearing writers whose file of the lock is moved away or removed, and nothing else.
func TestTheBellRings(t *testing.T) {
	const never, now = time.Minute, 0
	ctx, end := context.WithCancel(t.Context())
	lock := writeLock{path: filepath.Join(t.TempDir(), "lock"), patience: time.Minute}
	write := func() {
		t.Helper()
		give, err := lock.take()
		if err != nil {
			t.Fatal(err)
		}
		defer give()
		if err := lock.writing(&head{}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	write()
	rung := hangBell(ctx, lock.path)
	if rung(now) {
		t.Error("it was heard before anybody wrote")
	}
	for step, remove := range []func() error{
		func() error { return nil },
		func() error { return os.Rename(lock.path, lock.path+".old") },
		func() error { return os.Remove(lock.path) },
	} {
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		if step > 0 && (!rung(never) || rung(never)) {
			t.Errorf("%d: it should be heard once that the file is gone, and soon be looked for", step)
		}
		write()
		rung(now) // finds the new file
		write()
		if !rung(never) || rung(now) {
			t.Errorf("%d: a write should be heard once", step)
		}
	}
	end()
	if rung(never) {
		t.Error("it was heard after its end")
	}
}
