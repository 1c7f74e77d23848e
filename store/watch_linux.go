package store

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
)

// watchLog returns a channel that gets a value after the file was written to, or
// nil if the system has no watch to spare.
func watchLog(ctx context.Context, path string) <-chan struct{} {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	// The folder is watched, because the log is made and removed.
	f := os.NewFile(uintptr(fd), "inotify")
	if _, err := syscall.InotifyAddWatch(fd, filepath.Dir(path), syscall.IN_MODIFY|syscall.IN_CREATE); err != nil {
		f.Close()
		return nil
	}
	context.AfterFunc(ctx, func() { f.Close() })
	written := make(chan struct{}, 1)
	go func() {
		buffer := make([]byte, 16<<10)
		for {
			if _, err := f.Read(buffer); err != nil {
				return // it was closed
			}
			select {
			case written <- struct{}{}:
			default:
			}
		}
	}()
	return written
}
