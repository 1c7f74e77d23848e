package runner

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
)

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
			_, _ = s.progress.Write(line) // who watches does not matter to the command
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

// add returns the last line that is not empty, cut to [MaxLine].
func (w *window) add(p []byte) []byte {
	const size = 4 * MaxLine
	w.text = append(w.text, p[max(0, len(p)-size):]...)
	w.text = append(w.text[:0], w.text[max(0, len(w.text)-size):]...)
	line := bytes.TrimRight(w.text, "\r\n")
	line = line[bytes.LastIndexAny(line, "\r\n")+1:]
	if len(line) > MaxLine {
		line = cutEnd(line[:MaxLine])
	}
	return line
}
