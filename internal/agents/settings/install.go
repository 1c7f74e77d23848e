package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Record is what was done to a file, so that it can be undone.
type Record struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	// New says that there was no file before.
	New      bool      `json:"new,omitempty"`
	Before   []byte    `json:"before"`
	After    []byte    `json:"after"`
	Inserted []string  `json:"inserted"`
	At       time.Time `json:"at"`
}

// A Ledger is the folder where records and backups are kept.
type Ledger string

func (l Ledger) file(agent, path, suffix string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(string(l), agent+"-"+hex.EncodeToString(sum[:6])+suffix)
}

// Backup is where the file is kept as it was.
func (l Ledger) Backup(agent, path string) string { return l.file(agent, path, ".backup") }

// Find returns the record about an agent's file. The error matches [fs.ErrNotExist] if
// there is none.
func (l Ledger) Find(agent, path string) (r Record, err error) {
	file := l.file(agent, path, ".json")
	data, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s cannot be read: %w; the settings as they were are in %s", file, err, l.Backup(agent, path))
	}
	return r, nil
}

// Read returns the settings at a path; nil and no error if there are none. A link is
// followed: people keep such files elsewhere.
func Read(path string) (text []byte, real string, err error) {
	real, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if to, err := os.Readlink(path); err == nil {
			return nil, path, fmt.Errorf("%s is a link to %s, which does not exist; make that file or remove the link", path, to)
		}
		return nil, path, nil
	}
	if err == nil {
		text, err = readFile(real)
	}
	return text, real, err
}

// maxBytes is how large a file of settings may be.
const maxBytes = 64 << 20

// readFile reads a regular file. A project can have a link to a device or a pipe in place of its settings, which would
// never end, and is not to be replaced.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxBytes:
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxBytes>>20)
	}
	return os.ReadFile(path)
}

// Install writes what was planned for the file of an agent. The record and the backup
// are written first.
func (l Ledger) Install(agent, path string, p Plan, now time.Time) error {
	text, real, err := Read(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, p.Before) {
		return fmt.Errorf("%s has changed since it was shown; it was left alone", path)
	}
	r := Record{Agent: agent, Path: path, New: text == nil, Before: p.Before, After: p.After, Inserted: p.Inserted, At: now}
	if err := l.keep(r); err != nil {
		return err
	}
	return Replace(real, p.After)
}

func (l Ledger) keep(r Record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := Replace(l.Backup(r.Agent, r.Path), r.Before); err != nil {
		return err
	}
	return Replace(l.file(r.Agent, r.Path, ".json"), data)
}

// Undone says what the file of a record becomes without us: gone, or a text.
func (r Record) Undone(now []byte) (text []byte, gone bool, err error) {
	switch {
	case bytes.Equal(now, r.After):
		return r.Before, r.New, nil
	case now == nil:
		return nil, true, nil
	}
	text, err = Remove(now, r.Inserted)
	if err == nil && r.New && string(text) == empty {
		return nil, true, nil
	}
	return text, false, err
}

// Uninstall writes the file of a record as it is without us, and forgets the record. The
// backup stays.
func (l Ledger) Uninstall(r Record) error {
	now, real, err := Read(r.Path)
	if err != nil {
		return err
	}
	text, gone, err := r.Undone(now)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", r.Path, err)
	case gone && now != nil:
		err = os.Remove(real)
	case !gone:
		err = Replace(real, text)
	}
	if err != nil {
		return err
	}
	return os.Remove(l.file(r.Agent, r.Path, ".json"))
}

// Replace makes a file have the text, whole or not at all. It keeps its mode; a new one
// is for its owner alone.
func Replace(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(path), ".assent-*")
	if err != nil {
		return err
	}
	_, err = t.Write(text)
	if err == nil {
		err = t.Chmod(mode)
	}
	if err == nil {
		err = t.Sync()
	}
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.Name()))
	}
	return nil
}
