package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// ErrNoRecord says that nothing is kept under an id; match with [errors.Is].
var ErrNoRecord = errors.New("there is nothing to undo with this ID")

// A Record is what one command changed.
type Record struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Policy  string    `json:"policy,omitempty"`
	Project string    `json:"project,omitempty"`
	Command string    `json:"command"`
	// Tops are the folders that were looked at.
	Tops []Name `json:"tops"`
	// Repos are the repositories that have files of them.
	Repos []Repo `json:"repos,omitempty"`
	// Interrupted says that assent ended before the command did: changes since then are among
	// these.
	Interrupted bool `json:"interrupted,omitempty"`
	// Git says that the command changed commits or branches, which undo does not cover.
	Git     bool     `json:"git,omitempty"`
	Changes []Change `json:"changes"`
	// Through are changed files that were not kept, each with the reason.
	Through []string `json:"through,omitempty"`
}

// Files is how many files changed, folders not counted.
func (r *Record) Files() int {
	n := 0
	for _, c := range r.Changes {
		if c.Was.Kind != folder || c.Left.Kind != folder && c.Left.Kind != none {
			if c.Left.Kind != folder || c.Was.Kind != none {
				n++
			}
		}
	}
	return n
}

// A Repo is where blobs are.
type Repo struct {
	Top    Name   `json:"top"`
	GitDir Name   `json:"git_dir"`
	N      uint8  `json:"n"`
	State  string `json:"state"`
}

// A Change is how a command changed what lies at a path.
type Change struct {
	Top  int  `json:"top"`
	Path Name `json:"path"` // below the top
	Was  Then `json:"was"`
	Left Then `json:"left"`
}

// A Then is what lay at a path at some time.
type Then struct {
	Kind kind   `json:"kind,omitempty"`
	Mode uint32 `json:"mode,omitempty"`
	UID  uint32 `json:"uid,omitempty"`
	GID  uint32 `json:"gid,omitempty"`
	// Digest is the SHA-256 of its content, in hex. Blob is its name in git instead, of the
	// repository Repo; Identity stands for a content that is too large to be read.
	Digest   string `json:"digest,omitempty"`
	Blob     string `json:"blob,omitempty"`
	Repo     int    `json:"repo,omitempty"`
	Identity string `json:"identity,omitempty"`
	Target   Name   `json:"target,omitempty"` // of a link
}

// A Name is a path, of any bytes but NUL.
type Name string

// notText begins the form of a name that is not UTF-8, which JSON cannot hold.
const notText = "\x00hex:"

// MarshalText implements [encoding.TextMarshaler].
func (n Name) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return []byte(n), nil
	}
	return []byte(notText + hex.EncodeToString([]byte(n))), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *Name) UnmarshalText(text []byte) error {
	if h, ok := strings.CutPrefix(string(text), notText); ok {
		raw, err := hex.DecodeString(h)
		*n = Name(raw)
		return err
	}
	*n = Name(text)
	return nil
}

func validID(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// List returns the records, the newest first.
func (s *Store) List(context.Context) ([]Record, error) {
	names, err := os.ReadDir(s.records())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Record
	for _, n := range names {
		if id, ok := strings.CutSuffix(n.Name(), ".json"); ok {
			if r, err := s.Get(id); err == nil {
				out = append(out, r)
			}
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return b.Time.Compare(a.Time) })
	return out, err
}

// Get returns a record; the error wraps [ErrNoRecord] if there is none.
func (s *Store) Get(id string) (Record, error) {
	var r Record
	if !validID(id) {
		return r, fmt.Errorf("undo %q: %w", id, ErrNoRecord)
	}
	text, err := os.ReadFile(filepath.Join(s.records(), id+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoRecord
	}
	if err != nil {
		return r, fmt.Errorf("undo %q: %w", id, err)
	}
	if err := json.Unmarshal(text, &r); err != nil || !r.sound() {
		return r, fmt.Errorf("undo %s: what was kept is damaged", id)
	}
	r.ID = id
	return r, nil
}

func (r *Record) sound() bool {
	return !slices.ContainsFunc(r.Changes, func(c Change) bool {
		return c.Top < 0 || c.Top >= len(r.Tops) || c.Was.Repo < 0 || c.Was.Repo > len(r.Repos) ||
			!fs.ValidPath(strings.ToValidUTF8(string(c.Path), "?"))
	})
}

// Drop forgets a record. That there is none is not an error.
func (s *Store) Drop(_ context.Context, id string) error {
	if !validID(id) {
		return nil
	}
	err := os.Remove(filepath.Join(s.records(), id+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) keep(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.save(filepath.Join("records", r.ID+".json"), text)
}

// A before is what a command found. It is written down before the command runs, so that the
// next process can tell what changed if this one is killed.
type before struct {
	Record
	// Rels are the paths that were looked at, for each of Tops; an empty one is all.
	Rels [][]Name `json:"rels"`

	trees []tree
	held  *os.File // as long as it is open and locked, the command runs
}

// A tree is what lies below a top.
type tree struct {
	chunks [][]entry // one for each folder, or one for all
	closed []string
	paths  map[string]*entry
	// Those of the first look; nil if its process has ended.
	rules map[string]*ignoreFile
	tops  map[string]*repo
}

func (t *tree) len() (n int) {
	for _, c := range t.chunks {
		n += len(c)
	}
	return n
}

func (t *tree) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, c := range t.chunks {
			for i := range c {
				if !yield(&c[i]) {
					return
				}
			}
		}
	}
}

const beforeSuffix = ".before"

// write stores what was found, and holds it.
func (b *before) write(s *Store) (err error) {
	head, err := json.Marshal(b)
	if err != nil {
		return err
	}
	size := 0
	for _, t := range b.trees {
		size += 128 * t.len()
	}
	buf := make([]byte, 0, size+len(head))
	buf = binary.AppendUvarint(buf, uint64(len(head)))
	buf = append(buf, head...)
	index := map[*repo]int{}
	for _, t := range b.trees {
		buf = binary.AppendUvarint(buf, uint64(t.len()))
		for e := range t.all() {
			buf = appendText(append(buf, byte(e.kind), byte(e.src.kind), e.src.id.n), e.path)
			for _, n := range [...]uint64{e.dev, e.ino, uint64(e.size), uint64(e.mtime), uint64(e.ctime), uint64(e.mode),
				uint64(e.uid), uint64(e.gid)} {
				buf = binary.AppendUvarint(buf, n)
			}
			at := 0
			if e.src.kind == inGit {
				if at = index[e.repo]; at == 0 {
					at = 1 + slices.IndexFunc(b.Repos,
						func(r Repo) bool { return string(r.GitDir) == e.repo.gitDir && string(r.Top) == e.repo.top })
					index[e.repo] = at
				}
			}
			buf = append(binary.AppendUvarint(buf, uint64(at)), e.src.id.bytes()...)
			buf = appendText(buf, e.target)
		}
	}
	f, err := os.CreateTemp(s.Dir, newPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	if _, err := f.Write(buf); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(s.records(), b.ID+beforeSuffix)); err != nil {
		return err
	}
	b.held = f
	return nil
}

func appendText(buf []byte, text string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(text))), text...)
}

// end forgets what was found.
func (b *before) end(s *Store) error {
	err := os.Remove(filepath.Join(s.records(), b.ID+beforeSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, b.held.Close())
}

// pending are the ids of commands that run, or ran when their process ended.
func (s *Store) pending() ([]string, error) {
	names, err := os.ReadDir(s.records())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, n := range names {
		if id, ok := strings.CutSuffix(n.Name(), beforeSuffix); ok && validID(id) {
			out = append(out, id)
		}
	}
	return out, err
}

var errDamaged = errors.New("what was kept is damaged")

// readBefore reads what was found before a command.
func (s *Store) readBefore(id string) (*before, error) {
	data, err := os.ReadFile(filepath.Join(s.records(), id+beforeSuffix))
	if err != nil {
		return nil, err
	}
	r := beforeReader{bufio.NewReader(bytes.NewReader(data)), len(data), nil}
	b := &before{}
	if err := json.Unmarshal([]byte(r.text()), b); err != nil || len(b.Rels) != len(b.Tops) {
		return nil, errDamaged
	}
	b.ID = id
	repos := make([]*repo, len(b.Repos))
	for i, r := range b.Repos {
		repos[i] = &repo{top: string(r.Top), gitDir: string(r.GitDir), n: r.N}
	}
	for range b.Tops {
		var t tree
		var entries []entry
		for range r.number() {
			e := r.entry(repos)
			if r.err != nil {
				return nil, errDamaged
			}
			entries = append(entries, e)
		}
		t.chunks = [][]entry{entries}
		b.trees = append(b.trees, t)
	}
	if r.err != nil {
		return nil, errDamaged
	}
	return b, nil
}

type beforeReader struct {
	*bufio.Reader
	max int
	err error
}

func (r *beforeReader) number() uint64 {
	n, err := binary.ReadUvarint(r)
	if err != nil && r.err == nil {
		r.err = err
	}
	if r.err != nil {
		return 0
	}
	return n
}

func (r *beforeReader) take(n uint64) []byte {
	if r.err == nil && n > uint64(r.max) {
		r.err = errDamaged
	}
	if r.err != nil {
		return nil
	}
	buf := make([]byte, n)
	_, r.err = io.ReadFull(r, buf)
	return buf
}

func (r *beforeReader) text() string { return string(r.take(r.number())) }

func (r *beforeReader) entry(repos []*repo) (e entry) {
	head := r.take(3)
	if r.err != nil {
		return e
	}
	e.kind, e.src.kind = kind(head[0]), sourceKind(head[1])
	n := head[2]
	e.path = r.text()
	e.dev, e.ino, e.size, e.mtime, e.ctime = r.number(), r.number(), int64(r.number()), int64(r.number()), int64(r.number())
	e.mode, e.uid, e.gid = uint32(r.number()), uint32(r.number()), uint32(r.number())
	at := r.number()
	if n > 32 || at > uint64(len(repos)) || e.src.kind == inGit && at == 0 {
		r.err = errDamaged
		return e
	}
	if at > 0 {
		e.repo = repos[at-1]
	}
	e.src.id = newBlobID(r.take(uint64(n)))
	e.target = r.text()
	return e
}
