package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

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

// MaxLine is the longest line that a Progress is told, in bytes.
const MaxLine = 200

// A sink is where both streams of a command meet: the file of all output, and who
// wants to know the last line.
type sink struct {
	progress io.Writer
	file     *os.File      // nil for none
	max      int64         // of the file
	most     int64         // of all output; 0 for any amount
	stopped  chan struct{} // closed when no more is taken

	mu    sync.Mutex
	size  int64  // of the file
	total int64  // of all output
	why   Ending // 0 while more is taken
}

// newSink makes the file, which must be new: it is never one that a link leads to.
func newSink(o Options) (*sink, error) {
	s := &sink{progress: o.Progress, max: o.MaxFile, most: o.MaxOutput, stopped: make(chan struct{})}
	if s.max <= 0 {
		s.max = DefaultMaxFile
	}
	if o.File == "" {
		return s, nil
	}
	var err error
	if s.file, err = os.OpenFile(o.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, fmt.Errorf("the output cannot be kept: %w", err)
	}
	return s, nil
}

// write takes a piece of one stream.
func (s *sink) write(p []byte, w *window) {
	if s.file == nil && s.progress == nil && s.most == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(p)
	if s.total += int64(len(p)); s.most > 0 && s.total > s.most {
		s.stop(TooMuch)
	}
	if s.progress != nil {
		if line := w.add(p); len(line) > 0 {
			_, _ = s.progress.Write(append(line, '\n')) // who watches does not matter to the command
		}
	}
}

// keep writes as much to the file as it takes.
func (s *sink) keep(p []byte) {
	if s.file == nil || s.why != 0 {
		return
	}
	room := min(s.max-s.size, int64(len(p)))
	n, err := s.file.Write(p[:room])
	s.size += int64(n)
	switch {
	case err != nil:
		s.stop(FileFailed)
	case room < int64(len(p)):
		s.stop(TooMuch)
	}
}

// stop says once that no more is taken. It wants the lock to be held.
func (s *sink) stop(why Ending) {
	if s.why == 0 {
		s.why = why
		close(s.stopped)
	}
}

// reason returns why no more was taken, 0 if all was.
func (s *sink) reason() Ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

func (s *sink) name() string {
	if s.file == nil {
		return ""
	}
	return s.file.Name()
}

// close ends the file; what cannot be stored then counts as not written.
func (s *sink) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil && s.file.Close() != nil && s.why == 0 {
		s.why = FileFailed
	}
}

// discard removes the file of a command that was not started.
func (s *sink) discard() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}

// A window is the end of a stream, long enough for its last line.
type window struct{ text []byte }

// add returns a copy of the last line that is not empty, cut to [MaxLine].
func (w *window) add(p []byte) []byte {
	const size = 4 * MaxLine
	w.text = append(w.text, p[max(0, len(p)-size):]...)
	w.text = append(w.text[:0], w.text[max(0, len(w.text)-size):]...)
	line := bytes.TrimRight(w.text, "\r\n")
	line = line[bytes.LastIndexAny(line, "\r\n")+1:]
	if len(line) > MaxLine {
		line = cutEnd(line[:MaxLine])
	}
	return bytes.Clone(line)
}

// markerRoom is kept free for the line that says what is left out.
const markerRoom = 64

// A headTail keeps the beginning and the end of a stream, however long.
type headTail struct {
	limit int
	head  []byte // the first bytes, up to the limit
	tail  []byte // the last bytes, as a ring of half the limit
	next  int    // where the ring goes on
	total int64
}

func (k *headTail) add(p []byte) {
	k.total += int64(len(p))
	room := min(k.limit-len(k.head), len(p))
	k.head = append(k.head, p[:room]...)
	k.ring(p[room:])
}

// ring keeps the end of what no longer fits into the head.
func (k *headTail) ring(p []byte) {
	size := k.limit - k.limit/2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	for len(p) > 0 {
		if len(k.tail) < size {
			n := min(size-len(k.tail), len(p))
			k.tail, p = append(k.tail, p[:n]...), p[n:]
			continue
		}
		n := copy(k.tail[k.next:], p)
		k.next, p = (k.next+n)%size, p[n:]
	}
}

// output returns what is kept. If that is not all, both pieces begin and end between
// characters, and the whole is no longer than the limit.
func (k *headTail) output() Output {
	out := Output{Bytes: k.total, Truncated: k.total > int64(k.limit)}
	if !out.Truncated {
		out.Text = string(k.head)
		return out
	}
	room := max(k.limit-markerRoom, 0)
	head := cutEnd(k.head[:room/2])
	tail := cutBegin(k.last(room - room/2))
	out.Text = fmt.Sprintf("%s\n… %d bytes left out …\n%s", head, k.total-int64(len(head)+len(tail)), tail)
	return out
}

// last returns the last n bytes of the stream, which is longer than the limit.
func (k *headTail) last(n int) []byte {
	all := append(append(append([]byte{}, k.head...), k.tail[k.next:]...), k.tail[:k.next]...)
	return all[len(all)-n:]
}

// cutEnd drops the beginning of a character at the end.
func cutEnd(p []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(p)); i++ {
		c := p[len(p)-i]
		if utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-i:]) {
				return p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// cutBegin drops the end of a character at the beginning.
func cutBegin(p []byte) []byte {
	for i := range min(utf8.UTFMax, len(p)) {
		if utf8.RuneStart(p[i]) {
			return p[i:]
		}
	}
	return p
}
