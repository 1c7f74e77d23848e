package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
)

// A Spool keeps that calls start in two files of a folder until the store has it: a line
// each, with who and what and no arguments. The files are locked as long as the program
// lives. What a program that died left behind [RecoverStarts] takes into the store. It is
// not safe for concurrent use; a nil Spool keeps nothing.
type Spool struct {
	halves [2]*os.File
	now    int    // the half that is written
	line   []byte // room for the next line
}

// maxSpooled is how long a line may be. A longer start waits for the store.
const maxSpooled = 64 << 10

// OpenSpool makes the two files in the folder, which is made if it is not there.
func OpenSpool(dir string) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Spool{}
	for i := range s.halves {
		f, err := lockedFile(dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("keeping what starts: %w", err), s.Close())
		}
		s.halves[i] = f
	}
	return s, nil
}

// lockedFile makes a file that is this program's own. Whoever recovers what others left may
// find a new one before it is locked, and take it away: then it makes another.
func lockedFile(dir string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, "starts-*") // with mode 0600
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil && isThere(f) {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// isThere reports whether an open file still has its name.
func isThere(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(f.Name())
	return err == nil && os.SameFile(open, named)
}

// keep writes that a call starts.
func (s *Spool) keep(e approval.Event) error {
	s.line = append(appendStart(s.line[:0], &e), '\n')
	if len(s.line) > maxSpooled {
		return fmt.Errorf("a start of %d bytes is not kept here", len(s.line))
	}
	half := s.halves[s.now]
	n, err := half.Write(s.line)
	if err != nil { // half a line would spoil the next one
		return errors.Join(err, cut(half, n))
	}
	return nil
}

// appendStart writes what is kept of a start, as an event in JSON. A call waits for it, and
// [json.Marshal] takes ten times as long.
func appendStart(b []byte, e *approval.Event) []byte {
	b = append(b, `{"kind":"started","at":"`...)
	b = e.At.AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	for _, member := range []struct{ name, value string }{
		{"session", e.Session}, {"call", e.CallID}, {"connector", e.Connector}, {"tool", e.Tool},
		{"arguments_digest", e.ArgumentsDigest.String()}, {"fingerprint", e.Fingerprint.String()},
		{"state", string(e.State)}, {"stage", string(e.Stage)}, {"rule", e.Rule}, {"grant", e.Grant},
	} {
		b = append(append(append(b, `,"`...), member.name...), `":`...)
		b = appendText(b, member.value)
	}
	b = appendText(append(b, `,"by":{"user":`...), e.By.User)
	b = appendText(append(b, `,"host":`...), e.By.Host)
	b = appendText(append(b, `,"via":`...), string(e.By.Via))
	b = append(b, `},"workers":[`...)
	for i, w := range e.Workers {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, w)
	}
	return append(b, "]}"...)
}

// appendText writes a text in JSON.
func appendText(b []byte, text string) []byte {
	plain := func(r rune) bool { return ' ' <= r && r <= '~' && r != '"' && r != '\\' }
	if strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		quoted, err := json.Marshal(text)
		if err != nil {
			return append(b, `""`...) // cannot be: it is a text
		}
		return append(b, quoted...)
	}
	return append(append(append(b, '"'), text...), '"')
}

// cut removes the last bytes of a file that was written.
func cut(f *os.File, n int) error {
	end, err := f.Seek(int64(-n), io.SeekCurrent)
	if err != nil {
		return err
	}
	return f.Truncate(end)
}

// turn turns to the other half, and returns the one that was written, to be emptied once
// the store has what is in it.
func (s *Spool) turn() (written *os.File) {
	if s == nil {
		return nil
	}
	written = s.halves[s.now]
	s.now = 1 - s.now
	return written
}

func empty(half *os.File) error {
	if half == nil {
		return nil
	}
	if _, err := half.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return half.Truncate(0)
}

// Close removes the files if nothing is in them.
func (s *Spool) Close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, f := range s.halves {
		if f == nil {
			continue
		}
		info, err := f.Stat()
		if err == nil && info.Size() == 0 {
			err = os.Remove(f.Name())
		}
		errs = append(errs, err, f.Close())
	}
	return errors.Join(errs...)
}
