package store

import (
	"context"
	"path/filepath"
	"syscall"
)

// watchLog returns a function that waits until the file was written to since it
// was called last, and reports whether ctx is not done; nil if the system has no
// watch to spare.
func watchLog(ctx context.Context, path string) func() bool {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	// The folder is watched, because the log is made and removed.
	watch, err := syscall.InotifyAddWatch(fd, filepath.Dir(path), syscall.IN_MODIFY)
	if err != nil {
		syscall.Close(fd)
		return nil
	}
	// The end of the watch is an event as well, for who waits.
	context.AfterFunc(ctx, func() { syscall.InotifyRmWatch(fd, uint32(watch)) })
	// A read that blocks a thread: what is written while nobody reads is one event,
	// and wakes nobody.
	buffer := make([]byte, 16<<10)
	return func() bool {
		_, err := syscall.Read(fd, buffer)
		if err == syscall.EINTR {
			err = nil
		}
		if ctx.Err() != nil || err != nil {
			syscall.Close(fd)
			return false
		}
		return true
	}
}
