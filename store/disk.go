package store

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// syncWithin is how soon what was written without waiting is on the disk.
const syncWithin = 50 * time.Millisecond

// A disk brings the write-ahead log to the disk. SQLite in its normal mode does
// so only when it moves the log into the file; one fsync of the log makes all
// transactions in it last, whichever process wrote them.
type disk struct {
	log string // the path of the log

	mu     sync.Mutex
	file   *os.File
	timer  *time.Timer
	dirty  bool
	failed error // from then on nothing counts as durable
}

// syncLog makes everything that was committed before last.
func (s *Store) syncLog() error {
	d := &s.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sync()
}

// syncSoon makes it last within [syncWithin].
func (s *Store) syncSoon() error {
	d := &s.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirty || d.failed != nil {
		return d.failed
	}
	d.dirty = true
	d.timer = time.AfterFunc(syncWithin, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.dirty {
			_ = d.sync() // the next record reports it
		}
	})
	return nil
}

func (d *disk) sync() error {
	if d.failed != nil {
		return d.failed
	}
	err := d.open()
	if err == nil && d.file != nil {
		err = d.file.Sync()
	}
	if err != nil {
		// The kernel may have dropped what it could not write: no later success counts.
		d.failed = &Error{Path: d.log, Kind: ErrUnwritable, Err: err, Do: "look at the disk, and start again"}
		return d.failed
	}
	d.dirty = false
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
func (d *disk) close() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.dirty {
		err = d.sync()
	}
	if d.file != nil {
		err = errors.Join(err, d.file.Close())
		d.file = nil
	}
	return err
}
