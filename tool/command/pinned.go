package command

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// Programs keep what the files of command lines were when each command line was first seen.
// What one run starts shares one of them, so that a file that changes while the run goes on is
// noticed wherever it would be started. The zero Programs are ready for use; they are safe for
// concurrent use. As JSON they are part of a run that is put aside.
type Programs struct {
	mu    sync.Mutex
	first map[string]Files           // by folder and command line
	known map[identity]policy.Digest // of what is not read again
}

// Files are digests of files, by their paths without links on the way.
type Files map[string]policy.Digest

// A line is a command line that is to run only what was trusted.
type line struct {
	argv    []string // the program and its arguments
	dir     string   // where it runs
	path    string   // the PATH in which its program is looked for
	further []string // files that belong to it and are not passed on
	trusted Files    // its files as somebody has trusted them; nil if nobody has to
	source  string   // the file that was trusted with them, and the line in it
}

// A pinned line is one whose files must be what they were when it was pinned or trusted.
type pinned struct {
	line
	programs *Programs
	first    Files
}

// pin returns the line, bound to its files as they are now; if the same line was pinned before,
// as they were then. A line whose program cannot be found names no file: one that is there
// later is new.
func (p *Programs) pin(l line) *pinned {
	key, _ := json.Marshal(append([]string{l.dir}, l.argv...)) // texts can always be written
	p.mu.Lock()
	first, seen := p.first[string(key)]
	p.mu.Unlock()
	if !seen {
		first = Files{}
		if now, err := p.find(l); err == nil {
			for _, f := range now.files {
				first[f.path] = f.digest
			}
		}
		p.mu.Lock()
		if p.first == nil {
			p.first = map[string]Files{}
		}
		if other, seen := p.first[string(key)]; seen {
			first = other
		}
		p.first[string(key)] = first
		p.mu.Unlock()
	}
	return &pinned{line: l, programs: p, first: first}
}

// Verify returns what must be asked before each start of a command line, for servers that are
// started more than once. It is nil where there is none.
func (p *Programs) Verify(argv []string, dir string, environ []string) func() error {
	if len(argv) == 0 {
		return nil
	}
	return p.pin(line{argv: argv, dir: dir, path: pathOf(runner.NewEnvironment(environ, nil))}).check
}

// check returns a [*ChangedError] if a file of the line is not what it was, and another error
// if its files cannot be read. A program that is not there is no error: it cannot be started.
func (p *pinned) check() error {
	if _, err := lookUp(p.argv[0], p.dir, p.path); err != nil {
		return nil
	}
	_, err := p.look()
	return err
}

// look finds the files of the line as they are now. If one differs from what it was, the error
// is a [*ChangedError], and the program is what was found.
func (p *pinned) look() (program, error) {
	now, err := p.programs.find(p.line)
	if err != nil {
		return program{}, err
	}
	for i, f := range now.files {
		if want, there := p.want(f); want != f.digest && (i == 0 || !isData(f.path)) {
			return now, &ChangedError{File: p.shown(f), New: !there, Trusted: p.trustedWith()}
		}
	}
	return now, nil
}

// want is what a file must be. A program that is looked for in PATH is nobody's to trust.
func (p *pinned) want(f file) (policy.Digest, bool) {
	fromPath := f.word == p.argv[0] && !strings.Contains(f.word, "/")
	from := p.trusted
	if p.trusted == nil || fromPath {
		from = p.first
	}
	d, there := from[f.path]
	return d, there
}

// isData reports whether a file is one that programs write while they work, and none that
// anything would run.
func isData(path string) bool {
	return slices.Contains([]string{".csv", ".db", ".log", ".md", ".sqlite", ".sqlite3", ".txt"}, filepath.Ext(path))
}

// shown is how the model and the person are told of a file, without a path of this machine.
func (p *pinned) shown(f file) string {
	if !filepath.IsAbs(f.word) {
		return filepath.Clean(f.word)
	}
	if rel, err := filepath.Rel(p.dir, f.word); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return filepath.Base(f.word)
}

// trustedWith is the file that somebody has trusted; empty if nobody had to.
func (p *pinned) trustedWith() string {
	if p.trusted == nil {
		return ""
	}
	return cmp.Or(strings.TrimRight(strings.TrimRight(p.source, "0123456789"), ":"), "its policy")
}

// A ChangedError says that a file is not what it was when it was trusted, and what to do.
type ChangedError struct {
	File string
	// New says that there was no such file.
	New bool
	// Trusted is the policy or worker that was trusted with it; empty if none had to be.
	Trusted string
}

func (e *ChangedError) Error() string {
	what := "changed"
	if e.New {
		what = "was created"
	}
	if e.Trusted == "" {
		return fmt.Sprintf("%s %s since assent started; read it, and start again if it is right", e.File, what)
	}
	return fmt.Sprintf("%s %s since %s was trusted; read it, then 'assent trust %s' and start again", e.File, what,
		e.Trusted, e.Trusted)
}

// A file of up to maxRead bytes is read for each call; one that was trusted, of up to maxFile.
const (
	maxRead = 16 << 20
	maxFile = 256 << 20
)

// An identity tells one state of a file from another.
type identity struct {
	Dev, Ino   uint64
	Size       int64
	Mtim, Ctim unix.Timespec
}

// digest is what is in a file. Times say too little about a script, which can be mapped into
// memory and changed without them, so its content is hashed each time. What is large stands for
// its content by its identity, unless somebody has trusted the content itself; and so does what
// was hashed before, if it is large or the system's.
func (p *Programs) digest(path string, trusted bool) (d policy.Digest, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("checking %s: %w", path, err)
		}
	}()
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold us
	if err != nil {
		return d, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return d, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return d, errors.New("it is not a file")
	}
	id, large := identity{uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim, st.Ctim}, st.Size > maxRead
	if large && !trusted {
		return policy.DigestOf(fmt.Append(nil, id)), nil
	}
	keeps := (large || isSystem(path, &st)) && time.Since(time.Unix(st.Ctim.Unix())) > settles
	if known, ok := p.lookUp(id); ok && keeps {
		return known, nil
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	if err != nil {
		return d, err
	}
	d = policy.Digest(h.Sum(nil))
	if keeps {
		p.keep(id, d)
	}
	return d, nil
}

// settles is how long ago a file must have changed for its next change to bear another time.
const settles = 2 * time.Second

// isSystem reports whether no process of this user can write to a file. Where an ACL lets
// somebody write, the bits of the group say so.
func isSystem(path string, st *unix.Stat_t) bool {
	theirs := int(st.Uid) != os.Geteuid()
	if os.Geteuid() == 0 {
		theirs = inSystem(path) // root can write everything
	}
	return theirs && st.Mode&0o022 == 0
}

func (p *Programs) lookUp(id identity) (policy.Digest, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok := p.known[id]
	return d, ok
}

func (p *Programs) keep(id identity, d policy.Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[identity]policy.Digest{}
	}
	p.known[id] = d
}

// MarshalJSON implements [json.Marshaler].
func (p *Programs) MarshalJSON() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return json.Marshal(p.first)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Programs) UnmarshalJSON(data []byte) error {
	first := map[string]Files{}
	if err := json.Unmarshal(data, &first); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first = maps.Clone(first)
	return nil
}
