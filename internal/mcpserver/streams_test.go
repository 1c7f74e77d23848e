package mcpserver

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// A read of a polled stream ends when the stream is closed, which no other read does; and
// given back the stream is as it was.
func TestAPolledStreamCanBeClosedAndGivenBack(t *testing.T) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		t.Fatal(err)
	}
	plain, to := os.NewFile(uintptr(ends[0]), "in"), os.NewFile(uintptr(ends[1]), "to")
	defer plain.Close()
	defer to.Close()
	if same, _ := polled(plain, plain); same != plain {
		t.Error("a stream that is written to was changed")
	}
	in, giveBack := polled(plain, os.Stdout)
	if in == plain || !nonblocking(t, plain) {
		t.Error("a pipe stayed as it was")
	}
	read := make(chan error, 1)
	go func() {
		_, err := in.Read(make([]byte, 1))
		read <- err
	}()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, os.ErrClosed) {
		t.Errorf("the read ends with %v", err)
	}
	if giveBack(); nonblocking(t, plain) {
		t.Error("the pipe was not given back")
	}
}

func nonblocking(t *testing.T, f *os.File) bool {
	t.Helper()
	flags, _, err := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETFL, 0)
	if err != 0 {
		t.Fatal(err)
	}
	return flags&syscall.O_NONBLOCK != 0
}
