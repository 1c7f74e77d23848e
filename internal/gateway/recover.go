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
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

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
		if json.Unmarshal(line, &e) != nil || e.Kind != approval.EventStarted {
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
		Kind: approval.EventStarted, At: time.Now(), CallID: filepath.Base(name), Tool: "unknown", State: policy.StateAutoApproved, Stage: approval.StageUnknown,
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
		if r.Kind == approval.EventStarted && r.CallID == e.CallID {
			return true, nil
		}
	}
	return false, nil
}
