package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"syscall"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Spool keeps that calls start in two files of a folder until the store has it: a line
// each, with who and what and no arguments. The files are locked as long as the program
// lives. What a program that died left behind [RecoverStarts] takes into the store. It is
// not safe for concurrent use; a nil Spool keeps nothing.
type Spool struct {
	halves [2]*os.File
	now    int // the half that is written
}

// OpenSpool makes the two files in the folder, which is made if it is not there.
func OpenSpool(dir string) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Spool{}
	for i := range s.halves {
		f, err := lockedFile(dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("recording a start: %w", err), s.Close())
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

// keep writes that a call starts, on a line of its own even after one that was cut off.
func (s *Spool) keep(e approval.Event) error {
	line, err := json.Marshal(approval.Event{
		Kind: e.Kind, At: e.At, Session: e.Session, CallID: e.CallID, Connector: e.Connector, Tool: e.Tool,
		ArgumentsDigest: e.ArgumentsDigest, Fingerprint: e.Fingerprint, State: e.State, Stage: e.Stage,
		Rule: e.Rule, Grant: e.Grant, By: e.By, Workers: e.Workers,
	})
	if err == nil {
		_, err = fmt.Fprintf(s.halves[s.now], "\n%s\n", line)
	}
	return err
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
// once, and removes the files. Those of programs that live are left alone. Of a line that
// cannot be read it records that something started; of one without an end nothing did, for
// the program died while it wrote it.
func RecoverStarts(ctx context.Context, dir string, to Log) error {
	files, err := filepath.Glob(filepath.Join(dir, "starts-*"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := recoverFile(ctx, name, to); err != nil {
			return fmt.Errorf("reading unfinished calls from %s: %w", name, err)
		}
	}
	return nil
}

func recoverFile(ctx context.Context, name string, to Log) error {
	// Nothing of ours is a link, and a pipe would be waited for without an end.
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another program was faster
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file that assent wrote; remove it")
	}
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil // whoever wrote it lives, or another program takes it over
	}
	if !isThere(f) {
		return nil // another program was as fast, and has recorded it
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	lines := bytes.Split(data, []byte("\n"))
	for i, line := range lines[:len(lines)-1] { // what follows the last end of a line is half a line
		if len(line) == 0 {
			continue
		}
		var e approval.Event
		// One without an id could not be told from others, and would count as recorded with the first.
		if json.Unmarshal(line, &e) != nil || e.Kind != approval.EventStarted || e.CallID == "" {
			e = unreadable(info, i, line)
		}
		there, err := started(ctx, to, e)
		if err == nil && !there {
			err = to.RecordFull(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	return os.Remove(name)
}

// unreadable is what is recorded of a line that cannot be read. Its time is when the file was
// written last, and its id says which line it is, so that it too is recorded once.
func unreadable(file os.FileInfo, i int, line []byte) approval.Event {
	return approval.Event{
		Kind: approval.EventStarted, At: file.ModTime(), CallID: fmt.Sprintf("%s-%d", file.Name(), i+1),
		Tool: "unknown", State: policy.StateAutoApproved, Stage: approval.StageUnknown,
		Why: fmt.Sprintf("a killed program left a record that cannot be read: %.200q", line),
	}
}

// started reports whether the start of a call is recorded already.
func started(ctx context.Context, in Log, e approval.Event) (bool, error) {
	for r, err := range in.Records(ctx, approval.RecordFilter{Session: e.Session, Since: e.At}) {
		if err != nil {
			return false, err
		}
		if r.Kind == approval.EventStarted && r.CallID == e.CallID {
			return true, nil
		}
	}
	return false, nil
}
