package files

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// An UndoFolder is an [Undo] store in a folder that only the user can read.
// Several processes may share one.
type UndoFolder struct {
	// Dir is the folder; it is made when it is first needed.
	Dir string
	// MaxBytes is how much is kept in all; 0 means 256 MiB. The oldest goes first.
	MaxBytes int64
	// MaxAge is how long an entry is kept; 0 means 30 days.
	MaxAge time.Duration
	// Policy is the policy file that the entries come from, kept with each.
	Policy string
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
	// Unsynced has Keep leave it to [UndoFolder.Sync] to bring an entry to the disk and to drop
	// old ones: both take longer than the rest. An entry survives the end of the process all the
	// same.
	Unsynced bool

	mu sync.Mutex
}

var _ Undo = (*UndoFolder)(nil)

// newPrefix begins the names of files that are being written.
const newPrefix = ".new-"

// stored is an entry's file: the entry, and how long each part of its data is.
type stored struct {
	Entry
	Sizes []int64 `json:"sizes"`
}

func (u *UndoFolder) now() time.Time {
	if u.Clock != nil {
		return u.Clock()
	}
	return time.Now()
}

// Keep implements [Undo].
func (u *UndoFolder) Keep(_ context.Context, e Entry) (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	e.ID, e.Time, e.Policy = strings.ToLower(rand.Text()[:10]), u.now().UTC(), u.Policy
	var data bytes.Buffer
	s := stored{Entry: e}
	for _, c := range e.Changes {
		data.Write(c.Before)
		s.Sizes = append(s.Sizes, int64(len(c.Before)))
	}
	limit := orDefault(u.MaxBytes, 256<<20)
	if int64(data.Len()) > limit {
		return "", fmt.Errorf("%d bytes: %w", data.Len(), ErrTooLarge)
	}
	if err := os.MkdirAll(u.Dir, 0o700); err != nil {
		return "", err
	}
	if !u.Unsynced {
		if err := u.prune(limit - int64(data.Len())); err != nil {
			return "", err
		}
	}
	// The data first: an entry is there when its head is.
	if err := u.save(e.ID+".data", data.Bytes()); err != nil {
		return "", err
	}
	return e.ID, u.saveHead(s)
}

func (u *UndoFolder) saveHead(s stored) error {
	head, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return u.save(s.ID+".json", head)
}

// Sync brings entries to the disk that were kept without, and drops old ones.
func (u *UndoFolder) Sync(ids ...string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	names := []string{"."}
	for _, id := range ids {
		names = append(names, id+".data", id+".json")
	}
	done := make(chan error, len(names))
	for _, name := range names { // at once: a disk takes them together
		go func() { done <- syncFile(filepath.Join(u.Dir, name)) }()
	}
	err := u.prune(orDefault(u.MaxBytes, 256<<20))
	for range names {
		err = errors.Join(err, <-done)
	}
	return err
}

// syncFile brings a file to the disk. One that is not there was dropped meanwhile.
func syncFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// save writes a file whole or not at all.
func (u *UndoFolder) save(name string, data []byte) error {
	f, err := os.CreateTemp(u.Dir, newPrefix+"*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && !u.Unsynced {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(u.Dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Get implements [Undo].
func (u *UndoFolder) Get(_ context.Context, id string) (Entry, error) {
	s, err := u.head(id)
	if err != nil {
		return Entry{}, err
	}
	data, err := os.ReadFile(filepath.Join(u.Dir, id+".data"))
	if err != nil {
		return Entry{}, noEntry(id, err)
	}
	for i := range s.Changes {
		size := s.Sizes[i]
		if size < 0 || size > int64(len(data)) {
			return Entry{}, fmt.Errorf("undo %s: what was kept is damaged", id)
		}
		s.Changes[i].Before, data = data[:size:size], data[size:]
	}
	return s.Entry, nil
}

// head reads what an entry is, without its data.
func (u *UndoFolder) head(id string) (stored, error) {
	var s stored
	if id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return s, noEntry(id, fs.ErrNotExist)
	}
	text, err := os.ReadFile(filepath.Join(u.Dir, id+".json"))
	if err != nil {
		return s, noEntry(id, err)
	}
	if err := json.Unmarshal(text, &s); err != nil || len(s.Sizes) != len(s.Changes) {
		return s, fmt.Errorf("undo %s: what was kept is damaged", id)
	}
	s.ID = id
	return s, nil
}

func noEntry(id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("undo %q: %w", id, ErrNoEntry)
	}
	return fmt.Errorf("undo %q: %w", id, err)
}

// List implements [Undo]. What an agent was about to change, and has not, is not listed.
func (u *UndoFolder) List(context.Context) ([]Entry, error) {
	heads, err := u.heads()
	out := make([]Entry, 0, len(heads))
	for _, h := range heads {
		if !h.Pending || h.happened() {
			out = append(out, h.Entry)
		}
	}
	return out, err
}

// heads returns the entries that can be read, the newest first.
func (u *UndoFolder) heads() ([]stored, error) {
	names, err := os.ReadDir(u.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []stored
	for _, n := range names {
		id, ok := strings.CutSuffix(n.Name(), ".json")
		if s, err := u.head(id); ok && err == nil {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b stored) int { return b.Time.Compare(a.Time) })
	return out, err
}

// Drop implements [Undo].
func (u *UndoFolder) Drop(_ context.Context, id string) error {
	if _, err := u.head(id); errors.Is(err, ErrNoEntry) {
		return nil
	}
	for _, ending := range []string{".json", ".data"} {
		if err := os.Remove(filepath.Join(u.Dir, id+ending)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// prune drops what is too old, and the oldest of what is more than room.
func (u *UndoFolder) prune(room int64) error {
	oldest := u.now().Add(-orMonth(u.MaxAge))
	if full, err := u.full(room, oldest); err != nil || !full {
		return errors.Join(err, u.sweep())
	}
	heads, err := u.heads()
	if err != nil {
		return err
	}
	for _, h := range heads {
		for _, size := range h.Sizes {
			room -= size
		}
		if room >= 0 && !h.Time.Before(oldest) {
			continue
		}
		if err := u.Drop(context.Background(), h.ID); err != nil {
			return err
		}
	}
	return u.sweep()
}

// full reports whether something may have to go, by the sizes and times of the files: there may
// be thousands, and reading them takes long.
func (u *UndoFolder) full(room int64, oldest time.Time) (bool, error) {
	names, err := os.ReadDir(u.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, n := range names {
		info, err := n.Info()
		if err != nil || !strings.HasSuffix(n.Name(), ".data") {
			continue // dropped meanwhile, or a head
		}
		if room -= info.Size(); room < 0 || info.ModTime().Before(oldest) {
			return true, nil
		}
	}
	return false, err
}

// sweep removes what belongs to no entry: a process ended before it had written
// the whole of it. What is not ours is left alone.
func (u *UndoFolder) sweep() error {
	names, err := os.ReadDir(u.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range names {
		if !u.unfinished(n) {
			continue
		}
		if err := os.Remove(filepath.Join(u.Dir, n.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// unfinished reports whether a file is of an entry that will not be finished.
func (u *UndoFolder) unfinished(n fs.DirEntry) bool {
	info, err := n.Info()
	if err != nil || u.now().Sub(info.ModTime()) < staleAfter {
		return false // it went away, or may still become an entry
	}
	if strings.HasPrefix(n.Name(), newPrefix) {
		return true
	}
	id, ok := strings.CutSuffix(n.Name(), ".data")
	if !ok {
		return false
	}
	_, err = os.Lstat(filepath.Join(u.Dir, id+".json"))
	return errors.Is(err, fs.ErrNotExist)
}

func orMonth(d time.Duration) time.Duration {
	if d <= 0 {
		return 30 * 24 * time.Hour
	}
	return d
}
