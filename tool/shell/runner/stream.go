package runner

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
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
	kept         headTail      // only to be used when stop has returned
	done         chan struct{} // closed when nothing more will be read
	telling      atomic.Bool   // it is being handed on

	mu   sync.Mutex
	left bool // nobody waits any more
}

func newStream(s *sink, keep int, also io.Writer) (*stream, error) {
	if keep <= 0 {
		keep = DefaultKeep
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{ours: ours, theirs: theirs, sink: s, also: also, kept: headTail{limit: keep}, done: make(chan struct{})}, nil
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

// take takes a piece of the output and hands it on, and reports whether more is wanted. Whoever it
// is handed to may be slow, or never read it. If nobody takes it any more, the command learns that
// where it prints, as it does in front of a pipe of its own.
func (s *stream) take(p []byte) bool {
	if !s.note(p) || s.also == nil {
		return s.also == nil
	}
	_, err := s.also.Write(p)
	s.telling.Store(false)
	if err != nil {
		s.ours.Close()
	}
	return err == nil && !s.abandoned()
}

// note keeps a piece, unless nobody waits any more.
func (s *stream) note(p []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return false
	}
	s.kept.add(p)
	s.sink.write(p, &s.window)
	s.telling.Store(s.also != nil)
	return true
}

func (s *stream) abandoned() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
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
// to, but not longer than ctx: then that one keeps the piece it has.
func (s *stream) stop(ctx context.Context) {
	_ = s.ours.SetReadDeadline(time.Unix(0, 1)) // long ago
	if s.also == nil {
		<-s.done
		return
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.left = true
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
