package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
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

// A Log is where starts are taken that a program left behind.
type Log interface {
	approval.DetailRecorder
	Records(ctx context.Context, f approval.RecordFilter) iter.Seq2[approval.Record, error]
}

// RecoverStarts records the starts that programs which died have left in the folder, each
// once, and removes the files. Those of programs that live are left alone. A file in which
// something cannot be read is kept under another name, and that something started of which
// nothing else is known is recorded too.
func RecoverStarts(ctx context.Context, dir string, to Log) error {
	files, err := filepath.Glob(filepath.Join(dir, "starts-*"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := recoverFile(ctx, name, to); err != nil {
			return fmt.Errorf("what started before a program died, in %s: %w", name, err)
		}
	}
	return nil
}

func recoverFile(ctx context.Context, name string, to Log) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another program was faster
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil // whoever wrote it lives, or another program takes it over
	}
	if !isThere(f) {
		return nil // another program was as fast, and has recorded it
	}
	unread, err := recoverLines(ctx, f, to)
	if err != nil {
		return err
	}
	if unread > 0 {
		return keepUnread(ctx, name, unread, to)
	}
	return os.Remove(name)
}

// recoverLines records the starts in a file, and returns how many of its lines cannot be
// read. A last line without an end does not count: the program died before the call started.
func recoverLines(ctx context.Context, f io.Reader, to Log) (unread int, err error) {
	lines := bufio.NewReaderSize(f, maxSpooled)
	for {
		line, err := lines.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // no program of ours writes such a line
			unread++
			_, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return unread, nil
		}
		if err != nil {
			return unread, err
		}
		var e approval.Event
		if json.Unmarshal(line, &e) != nil || e.Kind != approval.Started {
			unread++
			continue
		}
		there, err := started(ctx, to, e)
		if err == nil && !there {
			err = to.RecordFull(ctx, e)
		}
		if err != nil {
			return unread, err
		}
	}
}

// keepUnread records that something started that nobody can read, and keeps the file for a
// person who wants to.
func keepUnread(ctx context.Context, name string, lines int, to Log) error {
	kept := filepath.Join(filepath.Dir(name), "unread-"+filepath.Base(name))
	err := to.RecordFull(ctx, approval.Event{
		Kind: approval.Started, At: time.Now(), CallID: filepath.Base(name), Tool: "unknown", State: approval.AutoApproved, Stage: approval.StageUnknown,
		Why: fmt.Sprintf("a program died, and %d of the starts that it left behind cannot be read; they are kept in %s", lines, kept),
	})
	if err != nil {
		return err
	}
	return os.Rename(name, kept)
}

// started reports whether the start of a call is recorded already.
func started(ctx context.Context, in Log, e approval.Event) (bool, error) {
	for r, err := range in.Records(ctx, approval.RecordFilter{Session: e.Session, Since: e.At}) {
		if err != nil {
			return false, err
		}
		if r.Kind == approval.Started && r.CallID == e.CallID {
			return true, nil
		}
	}
	return false, nil
}
