package runner

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A stream reads what a command prints on one of its outputs.
type stream struct {
	ours, theirs *os.File
	sink         *sink
	also         io.Writer // that receives it too; nil for none
	window       window
	kept         keeper        // only to be used when done is closed
	done         chan struct{} // closed when nothing more will be read
	telling      atomic.Bool   // it is handed on
	abandoned    chan struct{} // closed when nobody waits any more for it to be handed on
}

func newStream(s *sink, keep int, also io.Writer) (*stream, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{ours: ours, theirs: theirs, sink: s, also: also, kept: keeper{limit: keep}, done: make(chan struct{}), abandoned: make(chan struct{})}, nil
}

// join has the command print to another stream instead: what comes in one pipe keeps its order.
func (s *stream) join(other *stream) error {
	fd, err := unix.FcntlInt(other.theirs.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	s.theirs.Close()
	s.theirs = os.NewFile(uintptr(fd), other.theirs.Name())
	return nil
}

// same reports whether both streams go to one writer.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }() // some cannot be compared
	return a != nil && a == b
}

// close gives up a stream that nobody listens to.
func (s *stream) close() {
	s.ours.Close()
	s.theirs.Close()
}

// listen reads until the other side is closed or stop is called. The command has its
// own copy of the other end.
func (s *stream) listen() {
	s.theirs.Close()
	go func() {
		defer close(s.done)
		buffer := make([]byte, 64<<10)
		for {
			n, err := s.ours.Read(buffer)
			if n > 0 && !s.take(buffer[:n]) {
				return
			}
			if errors.Is(err, os.ErrDeadlineExceeded) && s.also != nil {
				s.rest(buffer)
			}
			if err != nil {
				return
			}
		}
	}()
}

// take takes a piece of the output, and reports whether more is wanted.
func (s *stream) take(p []byte) bool {
	s.kept.add(p)
	s.sink.write(p, &s.window)
	return s.also == nil || s.tell(p)
}

// tell hands a piece on, and reports whether more is wanted. Whoever reads it may be slow, or never
// read it. If nobody takes it any more, the command learns that where it prints, as it does in front
// of a pipe of its own.
func (s *stream) tell(p []byte) bool {
	s.telling.Store(true)
	defer s.telling.Store(false)
	told := make(chan error, 1)
	go func() {
		_, err := s.also.Write(p)
		told <- err
	}()
	select {
	case err := <-told:
		if err != nil {
			s.ours.Close()
		}
		return err == nil
	case <-s.abandoned: // the piece stays with whoever writes it
		return false
	}
}

// rest takes what was printed until now, and does not wait for more: at most what a pipe holds, as a
// program in the background may print on and on.
func (s *stream) rest(buffer []byte) {
	conn, err := s.ours.SyscallConn()
	if err != nil || s.ours.SetReadDeadline(time.Time{}) != nil {
		return
	}
	n := 0
	err = conn.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), buffer)
		return true
	})
	if err == nil && n > 0 {
		s.take(buffer[:n])
	}
}

// stop ends the listening and returns when it has ended. It waits for whoever the output is handed
// to, but not longer than ctx.
func (s *stream) stop(ctx context.Context) {
	_ = s.ours.SetReadDeadline(time.Unix(0, 1)) // long ago
	select {
	case <-s.done:
	case <-ctx.Done():
		close(s.abandoned)
		<-s.done
	}
}

// ignore reads on, for nobody: a program that goes on in the background would fail where it
// prints.
func (s *stream) ignore() {
	_ = s.ours.SetReadDeadline(time.Time{})
	go func() {
		defer s.ours.Close()
		_, _ = io.Copy(io.Discard, s.ours) // until the last one has ended
	}()
}
