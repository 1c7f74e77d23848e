package mcpserver

import (
	"io/fs"
	"os"
	"syscall"
)

// polled returns a stream on which a read that waits holds no thread, so that what was read
// before is worked on at once and not when another thread has woken up. GiveBack makes it
// what it was. A stream that is no pipe and no socket, or that is also written to, stays as
// it is: others may use it.
func polled(in, out *os.File) (f *os.File, giveBack func()) {
	from, err := in.Stat()
	if err != nil || from.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return in, func() {}
	}
	if to, err := out.Stat(); err != nil || os.SameFile(from, to) {
		return in, func() {}
	}
	fd, err := copyOf(in)
	if err != nil {
		return in, func() {}
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd) // nobody has it
		return in, func() {}
	}
	giveBack = func() { _ = syscall.SetNonblock(int(in.Fd()), false) } // fails if it is closed
	return os.NewFile(uintptr(fd), in.Name()), giveBack
}

// copyOf returns a descriptor of an open file that programs which we start do not get.
func copyOf(f *os.File) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}
