package store

import (
	"path/filepath"
	"testing"
)

// A watcher goes by the counters in the file of the lock only while they are those of the last write.
func TestCountersOfTheLastWrite(t *testing.T) {
	lock := writeLock{path: filepath.Join(t.TempDir(), "lock")}
	give, err := lock.take()
	if err != nil {
		t.Fatal(err)
	}
	defer give()
	reader := commitCount{path: lock.path}
	says := func() bool {
		_, _, ok := reader.last()
		return ok
	}
	want := head{policy: 1, grants: 2, requests: 3, seq: 4}
	err = lock.writing(&want, func() error {
		if says() {
			t.Error("the file speaks while somebody writes")
		}
		return nil
	})
	n, h, ok := reader.last()
	if err != nil || !ok || n != lock.count || h.policy != 1 || h.grants != 2 || h.requests != 3 || h.seq != 4 {
		t.Errorf("after a write: %v, count %d, %+v, %v", ok, n, h, err)
	}
	if err := lock.writing(nil, func() error { return nil }); err != nil || says() {
		t.Errorf("after a writer that leaves no counters, older ones are believed; %v", err)
	}
	if err := lock.writing(&want, func() error { return errNoTurn }); err != errNoTurn || says() {
		t.Errorf("after a failed commit, its counters are believed; %v", err)
	}
	if err := lock.writing(&want, func() error { return nil }); err != nil || !says() {
		t.Errorf("after another write: %v", err)
	}
	if _, err := lock.file.WriteAt([]byte{9}, 8+7); err != nil || says() { // the counter of the policy
		t.Errorf("counters of two writes are believed; %v", err)
	}
}
