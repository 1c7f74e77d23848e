package runner

import (
	"io"
	"os"
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
}

func newStream(s *sink, keep int, also io.Writer) (*stream, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{ours: ours, theirs: theirs, sink: s, also: also, kept: keeper{limit: keep}, done: make(chan struct{})}, nil
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
			if n > 0 {
				s.kept.add(buffer[:n])
				s.sink.write(buffer[:n], &s.window)
				s.tell(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
}

func (s *stream) tell(p []byte) {
	if s.also == nil {
		return
	}
	if _, err := s.also.Write(p); err != nil {
		s.also = nil // nobody is there any more
	}
}

// stop ends the listening and returns when it has ended.
func (s *stream) stop() {
	_ = s.ours.SetReadDeadline(time.Unix(0, 1)) // long ago
	<-s.done
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
