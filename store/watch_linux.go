package store

import (
	"context"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A bell is rung by who has written to the store: see [countFile.ring].
type bell struct {
	path string

	mu    sync.Mutex
	fd    int // -1 once nobody listens any more
	watch int
}

// hangBell returns a function that waits until somebody has written to the store since it was called last, for so long at
// most, and reports whether somebody has. Path is that of the file of the lock. Once ctx is done it must be called again, and
// returns at once. It is nil if the system has no watch to spare.
func hangBell(ctx context.Context, path string) func(time.Duration) bool {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	b := &bell{path: path, fd: fd, watch: -1}
	_ = b.hang()                    // without a file there is nothing to hear yet; the first wait tries again
	context.AfterFunc(ctx, func() { // the end of the watch is an event as well, for who waits
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.fd >= 0 {
			syscall.InotifyRmWatch(b.fd, uint32(b.watch))
		}
	})
	return func(patience time.Duration) bool { return b.wait(ctx, patience) }
}

// wait blocks a thread: what rings while nobody waits wakes nobody.
func (b *bell) wait(ctx context.Context, patience time.Duration) (rang bool) {
	if b.hang() != nil { // somebody removed the file, and nobody has made a new one
		patience = min(patience, unheard)
	}
	if ctx.Err() != nil {
		b.takeDown()
		return false
	}
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(b.fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
	var events [4 << 10]byte
	if n > 0 {
		_, _ = syscall.Read(b.fd, events[:])
	}
	if ctx.Err() != nil {
		b.takeDown()
	}
	return n > 0
}

// hang watches the file that is at the path now, which may be another than before.
func (b *bell) hang() (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watch, err = syscall.InotifyAddWatch(b.fd, b.path, syscall.IN_ATTRIB|syscall.IN_MOVE_SELF)
	return err
}

func (b *bell) takeDown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	syscall.Close(b.fd)
	b.fd = -1
}
