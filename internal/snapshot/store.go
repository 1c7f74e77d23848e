package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Store is a folder that only the user can read, with copies of files by their digests and
// with records of what commands changed. Several processes may share one.
type Store struct {
	// Dir is the folder; it is made when it is first needed. State is the folder of assent that
	// holds it, which is never looked at.
	Dir, State string
	// Policy is the policy file that the commands run under, kept with each record.
	Policy string
	// Project is the folder that another agent works in, whose commands they are; it is kept too.
	// There something holds also where no file speaks.
	Project string
	// Git is the git that reads what it has; empty means that git has nothing.
	Git string
	// MaxFile is the largest file that is copied; 0 means 32 MiB. MaxBytes is how much is kept
	// in all; 0 means 512 MiB. What is not needed goes first, then the oldest record.
	MaxFile, MaxBytes int64
	// MaxFiles is how many files the roots may have; 0 means 200,000.
	MaxFiles int64
	// MaxAge is how long a record is kept; 0 means 30 days.
	MaxAge time.Duration
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time

	indexes indexCache
	begin   sync.Once // what other processes left is looked after once

	mu      sync.Mutex
	seen    map[identity]source // what is known of contents
	loaded  bool
	changed bool
}

func (s *Store) now() time.Time {
	if s.Clock != nil {
		return s.Clock()
	}
	return time.Now()
}

func orElse[T int64 | time.Duration](n, or T) T {
	if n <= 0 {
		return or
	}
	return n
}

func (s *Store) maxFile() int64  { return orElse(s.MaxFile, 32<<20) }
func (s *Store) maxBytes() int64 { return orElse(s.MaxBytes, 512<<20) }
func (s *Store) maxFiles() int64 { return orElse(s.MaxFiles, 200_000) }

// A source is where the content of a file can be had from.
type source struct {
	kind sourceKind
	id   blobID // of a blob; or the SHA-256 of a copy
}

type sourceKind uint8

const (
	unkept     sourceKind = iota
	inGit                 // a blob of its repository
	inStore               // a copy
	tooLarge              // and no copy
	noRoom                // there is more to keep than may be kept
	unreadable            // it cannot be read
)

var whyNot = map[sourceKind]string{tooLarge: "too large", noRoom: "too much to keep", unreadable: "cannot be read",
	unkept: "went away"}

func (s *Store) object(id blobID) string {
	name := hex.EncodeToString(id.bytes())
	return filepath.Join(s.Dir, "objects", name[:2], name[2:])
}

func (s *Store) records() string { return filepath.Join(s.Dir, "records") }

// make makes the folders of the store.
func (s *Store) make() error {
	for _, dir := range []string{"objects", "records"} {
		if err := os.MkdirAll(filepath.Join(s.Dir, dir), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// lock keeps other processes from tidying up (shared), or from keeping (exclusive).
func (s *Store) lock(how int) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.Dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// newPrefix begins the names of files that are being written.
const newPrefix = ".new-"

// copyFile copies what is open into the store. What is written survives the end of the
// process; it is not forced to the disk, where the files themselves may not be yet either.
func (s *Store) copyFile(from io.Reader) (source, error) {
	temp, err := os.CreateTemp(filepath.Join(s.Dir, "objects"), newPrefix+"*") // 0600
	if err != nil {
		return source{}, err
	}
	defer os.Remove(temp.Name())
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(temp, sum), &failing{r: io.LimitReader(from, s.maxFile()+1)})
	if err = errors.Join(err, temp.Close()); err != nil {
		return source{}, err
	}
	if n > s.maxFile() {
		return source{kind: tooLarge}, nil
	}
	kept := source{inStore, newBlobID(sum.Sum(nil))}
	name := s.object(kept.id)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return source{}, err
	}
	return kept, os.Rename(temp.Name(), name)
}

// errRead marks that a file could not be read, which is not the store's fault.
var errRead = errors.New("cannot be read")

// failing tells an error of reading from one of writing.
type failing struct{ r io.Reader }

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errRead, err)
	}
	return n, err
}

// remembered is what is known of a content.
func (s *Store) remembered(id identity) (source, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		s.loaded = true
		s.seen = readSeen(filepath.Join(s.Dir, "seen"))
	}
	src, ok := s.seen[id]
	return src, ok
}

func (s *Store) remember(id identity, src source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[id] = src
	s.changed = true
}

// maxSeen is how many contents are remembered; then it begins again.
const maxSeen = 400_000

// saveSeen writes what is remembered for the next process. If it cannot, files are compared or
// copied once more than needed.
func (s *Store) saveSeen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.changed {
		return
	}
	s.changed = false
	if len(s.seen) > maxSeen {
		s.seen = map[identity]source{}
	}
	data := make([]byte, 0, len(s.seen)*seenSize)
	for id, src := range s.seen {
		for _, n := range []uint64{id.dev, id.ino, uint64(id.size), uint64(id.ctime)} {
			data = binary.LittleEndian.AppendUint64(data, n)
		}
		data = append(data, byte(src.kind), src.id.n)
		data = append(data, src.id.id[:]...)
	}
	_ = s.save("seen", data)
}

const seenSize = 4*8 + 2 + 32

func readSeen(file string) map[identity]source {
	out := map[identity]source{}
	data, err := os.ReadFile(file)
	if err != nil || len(data)%seenSize != 0 {
		return out
	}
	for ; len(data) > 0; data = data[seenSize:] {
		n := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
		src := source{kind: sourceKind(data[32]), id: blobID{n: min(data[33], 32)}}
		copy(src.id.id[:], data[34:seenSize])
		if src.kind == inGit || src.kind == inStore && src.id.n == 32 {
			out[identity{n(0), n(1), int64(n(2)), int64(n(3))}] = src
		}
	}
	return out
}

// save writes a file of the store whole or not at all.
func (s *Store) save(name string, data []byte) error {
	f, err := os.CreateTemp(s.Dir, newPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.Dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// A copied is a copy in the store.
type copied struct {
	name string
	id   string
	size int64
	time time.Time
}

// objects lists the copies, and removes what a process that ended did not finish.
func (s *Store) objects() (list []copied, total int64, err error) {
	err = filepath.WalkDir(filepath.Join(s.Dir, "objects"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), newPrefix) {
			if s.now().Sub(info.ModTime()) > time.Hour {
				return os.Remove(name)
			}
			return nil
		}
		list = append(list, copied{name, filepath.Base(filepath.Dir(name)) + d.Name(), info.Size(), info.ModTime()})
		total += info.Size()
		return nil
	})
	return list, total, err
}

// makeRoom drops what is too old and, if more is kept than may be, copies that no record needs,
// then the oldest records. It returns how many records went to make room.
func (s *Store) makeRoom(ctx context.Context, need int64) (dropped int, err error) {
	list, total, err := s.objects()
	if err != nil {
		return 0, err
	}
	records, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	oldest := s.now().Add(-orElse(s.MaxAge, 30*24*time.Hour))
	for len(records) > 0 && records[len(records)-1].Time.Before(oldest) {
		if err := s.Drop(ctx, records[len(records)-1].ID); err != nil {
			return 0, err
		}
		records = records[:len(records)-1]
	}
	if total+need <= s.maxBytes() {
		return 0, nil
	}
	unlock, err := s.lock(unix.LOCK_EX)
	if err != nil {
		return 0, err
	}
	defer unlock()
	slices.SortFunc(list, func(a, b copied) int { return a.time.Compare(b.time) })
	for {
		needed, err := s.needed(records)
		if err != nil {
			return dropped, err
		}
		for _, c := range list {
			if total+need <= s.maxBytes() {
				return dropped, nil
			}
			if needed[c.id] {
				continue
			}
			if err := os.Remove(c.name); err == nil {
				total -= c.size
			} else if !errors.Is(err, fs.ErrNotExist) {
				return dropped, err
			}
		}
		list = slices.DeleteFunc(list, func(c copied) bool { return !needed[c.id] })
		if total+need <= s.maxBytes() || len(records) == 0 {
			return dropped, nil
		}
		if err := s.Drop(ctx, records[len(records)-1].ID); err != nil {
			return dropped, err
		}
		records = records[:len(records)-1]
		dropped++
	}
}

// needed are the copies that records and running commands need.
func (s *Store) needed(records []Record) (map[string]bool, error) {
	out := map[string]bool{}
	for _, r := range records {
		for _, c := range r.Changes {
			out[c.Was.Digest] = true
		}
	}
	pending, err := s.pending()
	if err != nil {
		return nil, err
	}
	for _, id := range pending {
		b, err := s.readBefore(id)
		if err != nil {
			continue // it has ended since, or cannot be read by anybody
		}
		for _, t := range b.trees {
			for e := range t.all() {
				if src := e.src; src.kind == inStore {
					out[hex.EncodeToString(src.id.bytes())] = true
				}
			}
		}
	}
	return out, nil
}
