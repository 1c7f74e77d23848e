package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The files in the folder. Who the machine is and the bundle are in package member.
const (
	machineName = "machine.json"
	shippedName = "shipped"
	statusName  = "status.json"
	sentName    = "sent"
	cursorName  = "cursor"
	lockName    = "bridge.lock"
	logName     = "bridge.log"
)

func folder(state string) string { return filepath.Join(state, "team") }

// Open opens a file of the folder. Something else in its place, such as a pipe, is an error and holds nobody: every call of
// every agent looks at these files.
func Open(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, flag|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file; remove it", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read reads a file of the folder that has no more than some bytes.
func Read(name string, most int64) ([]byte, error) {
	f, err := Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is larger than %d bytes, the limit", filepath.Base(name), most)
	}
	return data, err
}

// mostState is how large the files of this package can be.
const mostState = 16 << 20

// Joined reports whether this machine belongs to a team. It is quick: every call of every agent asks.
func Joined(state string) bool {
	_, err := os.Lstat(filepath.Join(folder(state), machineName))
	return err == nil
}

// Forget removes what is known of the link.
func Forget(state string) error {
	var errs []error
	for _, name := range []string{shippedName, statusName, sentName, cursorName, logName} {
		if err := os.Remove(filepath.Join(folder(state), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Shipped returns the number of the last record that the server has acknowledged.
func Shipped(state string) (seq int64, err error) {
	data, err := Read(filepath.Join(folder(state), shippedName), mostState)
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(data, &seq); err != nil || seq < 0 {
		return 0, fmt.Errorf("%s: %q is not the number of a record", filepath.Join(folder(state), shippedName), data)
	}
	return seq, nil
}

// SaveShipped notes the number of the last record that the server has acknowledged.
func SaveShipped(state string, seq int64) error { return save(state, shippedName, seq, true) }

// Sent are the ids of the requests that the server may have: it must be told when they end. If they are lost, all
// that is open is sent again, and what has ended ends at the server when it expires.
func Sent(state string) (ids []string) {
	load(state, sentName, &ids)
	return ids
}

// SaveSent keeps them.
func SaveSent(state string, ids []string) error { return save(state, sentName, ids, false) }

// Cursor is up to where the news of the server were taken. If it is lost, all news come again, and each counts once.
func Cursor(state string) (cursor int64) {
	load(state, cursorName, &cursor)
	return max(cursor, 0)
}

// SaveCursor keeps it.
func SaveCursor(state string, cursor int64) error { return save(state, cursorName, cursor, false) }

// load reads a file that may be lost.
func load(state, name string, value any) {
	if data, err := Read(filepath.Join(folder(state), name), mostState); err == nil {
		_ = json.Unmarshal(data, value)
	}
}

// save replaces a file as a whole. If it is synced, no failure of the power loses it.
func save(state, name string, value any, synced bool) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder(state), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder(state), name+".*") // readable by its owner alone
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && synced {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(folder(state), name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
