package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// logSuffix is what SQLite calls the write-ahead log of a file.
const logSuffix = "-wal"

// syncWithin is how soon what was written without waiting is on the disk.
const syncWithin = 50 * time.Millisecond

// A disk brings the write-ahead log to the disk. SQLite in its normal mode does
// so only when it moves the log into the file; one fsync of the log makes all
// transactions in it last, whichever process wrote them.
type disk struct {
	log     string       // the path of the log
	written atomic.Int64 // how many changes this process has committed
	soon    atomic.Bool  // a timer is set

	mu     sync.Mutex // held while the log is brought to the disk
	file   *os.File
	synced int64 // how many of the changes are on the disk
	closed bool

	failed atomic.Pointer[Error] // from then on nothing counts as durable
}

// syncLog makes everything that was committed before last. Who waited for another
// to do the same may find it done.
func (s *Store) syncLog() error {
	d := &s.disk
	want := d.written.Load()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sync(want)
}

// syncSoon makes it last within [syncWithin].
func (s *Store) syncSoon() error {
	d := &s.disk
	if failed := d.failed.Load(); failed != nil {
		return failed
	}
	if !d.soon.Swap(true) {
		time.AfterFunc(syncWithin, func() {
			d.soon.Store(false) // what is committed from now on needs another
			d.mu.Lock()
			defer d.mu.Unlock()
			if !d.closed {
				_ = d.sync(d.written.Load()) // the next record reports it
			}
		})
	}
	return nil
}

// Sync brings what was committed to the store in a folder to the disk, whichever process
// did. It is for one that ends without closing its store. Without a log there is nothing to
// bring.
func Sync(folder string) error {
	f, err := os.Open(filepath.Join(folder, FileName+logSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *disk) sync(want int64) error {
	if failed := d.failed.Load(); failed != nil {
		return failed
	}
	if d.synced >= want {
		return nil
	}
	written := d.written.Load()
	err := d.open()
	if err == nil && d.file != nil {
		err = d.file.Sync()
	}
	if err != nil {
		// The kernel may have dropped what it could not write: no later success counts.
		failed := &Error{Path: d.log, Kind: ErrUnwritable, Err: err, Do: "check the disk, then start again"}
		d.failed.Store(failed)
		return failed
	}
	d.synced = written
	return nil
}

// open opens the log. SQLite takes no lock on it, so that closing it again takes
// none away.
func (d *disk) open() (err error) {
	if d.file == nil {
		d.file, err = os.Open(d.log)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was written since it was moved into the file, which is on the disk
	}
	return err
}

// close brings what is left to the disk.
func (d *disk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	err := d.sync(d.written.Load())
	if d.file != nil {
		err = errors.Join(err, d.file.Close())
		d.file = nil
	}
	return err
}

// A mark is a small file beside the store that says how many changes of rules,
// grants, preferences, claims and runs have been made durable. SQLite takes a
// write-ahead log that was cut for a shorter one, and would go back in time
// without a word: a rule that was removed would hold again. The mark notices.
type mark struct{ path string }

// markSuffix is how its name goes on from that of the store.
const markSuffix = "-mark"

// read returns how many changes the store must have; 0 if there is no mark.
func (m mark) read() (int64, error) {
	data, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return parseMark(data)
}

func parseMark(data []byte) (int64, error) {
	if len(data) == 0 {
		return 0, nil // made, and not written yet
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n < 0 {
		return 0, damage("its mark file is not what was written")
	}
	return n, nil
}

// raise notes that the store has at least n changes. A mark never goes down.
func (m mark) raise(n int64) error {
	f, err := os.OpenFile(m.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return err
	}
	if now, err := parseMark(data); err != nil || now >= n {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%020d\n", n), 0) // one write of a fixed length
	return err
}

// check compares a head with the mark that was read before it.
func (m mark) check(h head, seen int64) error {
	if h.generation >= seen {
		return nil
	}
	return damage("%d of its last changes are missing: its write-ahead log was cut, or it is an older copy "+
		"(if that is what you want, remove %s)", seen-h.generation, m.path)
}
