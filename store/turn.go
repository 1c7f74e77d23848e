package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// A turn is taken by one process after another that wants to write. SQLite's own
// lock is asked for again and again, with pauses; where many write, some would
// wait for ever. The system's lock on a file of its own is handed on at once.
//
// The file holds a count of the writes: see count.go.
type turn struct {
	path     string
	patience time.Duration
	of       string      // the file that is written
	opened   os.FileInfo // as it was found; nil before

	mu      sync.Mutex // only one of a process waits, or has the turn
	file    counted
	waiting chan error // for a lock that was asked for and did not come in time
	count   uint64     // how many writes there were, for who has the turn
}

var errNoTurn = errors.New("another process has been writing")

// take waits for the turn, not for ever. Give gives it on.
func (t *turn) take() (give func(), err error) {
	t.mu.Lock()
	if err = t.acquire(); err != nil {
		t.mu.Unlock()
		return nil, err
	}
	give = func() {
		_ = syscall.Flock(int(t.file.Fd()), syscall.LOCK_UN) // fails for a closed file only
		t.mu.Unlock()
	}
	if t.opened != nil && !sameFile(t.of, t.opened) {
		give()
		return nil, errMoved
	}
	return give, nil
}

// errMoved refuses writes that nobody would find.
var errMoved = errors.New("the file was moved, removed or replaced while it was open; put it back, or end this program and start it again")

func sameFile(path string, was os.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, was)
}

// acquire locks the file that others lock too: one that was removed meanwhile
// keeps nobody out.
func (t *turn) acquire() error {
	for {
		if err := t.lock(); err != nil {
			return err
		}
		if t.file.isAt(t.path) {
			t.count = t.file.begin()
			return nil
		}
		if err := t.file.close(); err != nil {
			return err
		}
	}
}

func (t *turn) lock() error {
	if err := t.file.open(t.path, os.O_CREATE|os.O_RDWR); err != nil {
		return err
	}
	if t.waiting == nil {
		if err := syscall.Flock(int(t.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return nil
		}
		t.waiting = make(chan error, 1)
		go func(fd int, got chan<- error) { got <- flock(fd) }(int(t.file.Fd()), t.waiting)
	}
	timer := time.NewTimer(t.patience)
	defer timer.Stop()
	select {
	case err := <-t.waiting:
		t.waiting = nil
		return err
	case <-timer.C:
		return fmt.Errorf("%w for %v", errNoTurn, t.patience)
	}
}

// flock waits for the lock as long as it takes.
func flock(fd int) error {
	for {
		err := syscall.Flock(fd, syscall.LOCK_EX)
		if err != syscall.EINTR {
			return err
		}
	}
}

// writing runs commit, which makes a change visible, between raising the count to
// an odd number and to the next even one. Only who has the turn may call it.
func (t *turn) writing(commit func() error) error {
	t.count |= 1
	if err := t.file.write(t.count); err != nil {
		return err
	}
	err := commit()
	if t.file.write(t.count+1) == nil { // otherwise it stays odd, and nobody believes it
		t.count++
	}
	return err
}

// close gives up the file, unless a lock on it is still being waited for: then
// the end of the process does.
func (t *turn) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting != nil {
		return nil
	}
	return t.file.close()
}
