package snapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// An entry is what lies at one path below a top.
type entry struct {
	path string // below its top, with slashes; empty for the top itself
	kind kind
	sig
	target  string // of a link
	repo    *repo  // that it belongs to; nil for none
	tracked *indexed
	clean   bool // git has seen just this
	src     source
	there   bool // a later look found it too
}

// A walk looks at everything below a folder. It never follows a link: each folder is opened
// below the one that holds it.
type walk struct {
	ctx   context.Context
	top   string
	cache *indexCache
	// was is what an earlier look found; nil for the first. What was ignored then is not
	// looked at, and what was not ignored is, whatever the ignore files say by now.
	was map[string]*entry
	// rules are the ignore files of folders, by their paths: those of the first look hold for
	// the second, so that a command does not hide what it makes by ignoring it.
	rules map[string]*ignoreFile
	tops  map[string]*repo // and the repositories that begin in folders, in the same way
	young int64            // what changed after that may have changed again unseen
	max   int64
	skip  identity // a folder that is not looked at
	// named is a path that the command names: a file there counts though git ignores it.
	named string

	busy  chan struct{} // a place for each further worker
	group sync.WaitGroup
	count atomic.Int64
	mu    sync.Mutex
	found [][]entry
	// closed are folders that could not be read: what is below them is not known.
	closed []string
	repos  []*repo
}

// A where is what holds in a folder.
type where struct {
	repo    *repo
	prefix  string // of paths below the top of the repository: the folder, with a last slash
	ignores []*ignoreFile
	ignored bool // git ignores what it does not track
}

// errTooMany says that the tree is too large to be looked at before each command.
var errTooMany = errors.New("too many files")

// run looks at what is below rel, a path below the top; empty is all.
func (w *walk) run(rel string) error {
	w.busy = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))
	top, err := unix.Open(w.top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: w.top, Err: err}
	}
	at := where{}
	if repo := w.repo(""); repo != nil && repo.top == w.top {
		at = w.enter(repo, "")
	} else if repo != nil {
		below, err := filepath.Rel(repo.top, w.top)
		if err != nil {
			return err
		}
		at = w.enter(repo, filepath.ToSlash(below)+"/")
		if at = at.inherit(repo.top, filepath.ToSlash(below)); at.ignored && !repo.index.dirs[filepath.ToSlash(below)] {
			at = where{} // a repository that ignores the whole root, such as one of a home folder
		}
	}
	if rel == "" {
		w.dir(top, "", at)
		w.group.Wait()
		return w.result()
	}
	w.named = rel
	w.below(top, rel, at)
	w.group.Wait()
	return w.result()
}

func (w *walk) result() error {
	switch {
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case w.count.Load() > w.max:
		return errTooMany
	}
	return nil
}

// repo is the repository that begins in a folder; for the top, the one that it lies in.
func (w *walk) repo(rel string) *repo {
	if _, old := w.was[rel]; w.tops != nil && w.was != nil && (old || rel == "") {
		return w.tops[rel]
	}
	host := filepath.Join(w.top, rel)
	r := repoAt(host, w.cache)
	if r == nil && rel == "" {
		r = repoAbove(host, w.cache)
	}
	if w.was == nil {
		w.mu.Lock()
		w.tops[rel] = r
		w.mu.Unlock()
	}
	return r
}

// enter is where a repository begins.
func (w *walk) enter(r *repo, prefix string) where {
	w.mu.Lock()
	w.repos = append(w.repos, r)
	w.mu.Unlock()
	return where{repo: r, prefix: prefix, ignores: r.ignores}
}

// inherit adds the ignore files between the top of the repository and a folder below it.
func (at where) inherit(top, below string) where {
	dir := ""
	for _, element := range strings.Split(below, "/") {
		at = at.add(readIgnore(filepath.Join(top, dir), dir))
		at.repo.attributes(readSmall(filepath.Join(top, dir, ".gitattributes")))
		dir = strings.TrimPrefix(dir+"/"+element, "/")
		if ignored(at.ignores, dir, true) {
			at.ignored = true
		}
	}
	return at
}

func (at where) add(f *ignoreFile) where {
	if f != nil {
		at.ignores = append(at.ignores[:len(at.ignores):len(at.ignores)], f)
	}
	return at
}

// readIgnore reads the ignore file of a folder; nil if it has none.
func readIgnore(host, dir string) *ignoreFile {
	if text := readSmall(filepath.Join(host, ".gitignore")); text != "" {
		return parseIgnore(dir, text)
	}
	return nil
}

// below goes down to one path, and looks at it and what is below it.
func (w *walk) below(fd int, rel string, at where) {
	dir := ""
	for {
		name, rest, more := strings.Cut(rel, "/")
		at = w.here(fd, dir, at, nil)
		path := strings.TrimPrefix(dir+"/"+name, "/")
		if !more {
			w.names(fd, dir, at, []string{name})
			unix.Close(fd)
			return
		}
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			on := entry{path: path, sig: sigOf(&st), repo: at.repo}
			if on.kind = on.sig.kind(); on.kind == link {
				on.target = readLink(fd, name)
			}
			if was := w.was[path]; was != nil {
				was.there = true
			}
			w.found = append(w.found, []entry{on})
		}
		next, err := openFolder(fd, name)
		unix.Close(fd)
		if err != nil {
			return // nothing can be below it
		}
		at.prefix += name + "/"
		if at.repo == nil {
			at.prefix = ""
		}
		fd, dir, rel = next, path, rest
	}
}

func openFolder(fd int, name string) (int, error) {
	return unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// here is what holds in a folder: it may be a repository of its own, and have an ignore file.
// Names are what it holds; nil if they are not known.
func (w *walk) here(fd int, rel string, at where, names []string) where {
	has := func(want string) bool {
		if names == nil {
			return unix.Faccessat(fd, want, unix.F_OK, 0) == nil
		}
		for _, n := range names {
			if n == want {
				return true
			}
		}
		return false
	}
	host := filepath.Join(w.top, rel)
	if rel != "" && has(".git") {
		if r := w.repo(rel); r != nil {
			at = w.enter(r, "")
		}
	}
	if at.repo == nil {
		return at
	}
	if _, old := w.was[rel]; w.was != nil && w.rules != nil && (old || rel == "") {
		return at.add(w.rules[rel])
	}
	if has(".gitattributes") {
		at.repo.attributes(readSmall(filepath.Join(host, ".gitattributes")))
	}
	if has(".gitignore") {
		f := readIgnore(host, strings.TrimSuffix(at.prefix, "/"))
		at = at.add(f)
		w.mu.Lock()
		if w.was == nil {
			w.rules[rel] = f
		}
		w.mu.Unlock()
	}
	return at
}

// dir looks at what a folder holds, and closes it.
func (w *walk) dir(fd int, rel string, at where) {
	defer unix.Close(fd)
	names, err := readNames(fd)
	if err != nil {
		w.shut(rel)
		return
	}
	w.names(fd, rel, w.here(fd, rel, at, names), names)
}

// buffers are for reading folders.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// readNames lists a folder.
func readNames(fd int) (names []string, err error) {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := unix.ReadDirent(fd, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 || err != nil {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// shut notes a folder that cannot be read.
func (w *walk) shut(rel string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = append(w.closed, rel)
}

// names looks at some of what a folder holds.
func (w *walk) names(fd int, rel string, at where, names []string) {
	if w.count.Add(int64(len(names))) > w.max || w.ctx.Err() != nil {
		return
	}
	var found []entry
	if w.was == nil {
		found = make([]entry, 0, len(names))
	}
	var st unix.Stat_t
	path := make([]byte, 0, len(rel)+64)
	for _, name := range names {
		if name == ".git" {
			continue // never covered
		}
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			continue // it went away
		}
		e := entry{sig: sigOf(&st), repo: at.repo}
		if path = append(path[:0], rel...); rel != "" {
			path = append(path, '/')
		}
		path = append(path, name...)
		was := w.was[string(path)]
		if was != nil {
			was.there = true
			if e.kind = file; was.same(&e, w.young) {
				continue // most of them, and nothing more is needed
			}
			e.path = was.path
		} else {
			e.path = string(path)
		}
		if e.kind = e.sig.kind(); e.kind == folder && e.dev == w.skip.dev && e.ino == w.skip.ino {
			continue
		}
		if e.kind == link {
			e.target = readLink(fd, name)
		}
		skip := w.place(&e, was, name, at)
		standIn := was == nil && e.kind == folder && e.mtime == standInTime // what is in it counts
		if !standIn && (was == nil || !was.same(&e, w.young)) {
			found = append(found, e)
		}
		if e.kind == folder && !skip {
			w.into(fd, name, &e, at)
		}
	}
	w.mu.Lock()
	w.found = append(w.found, found)
	w.mu.Unlock()
}

// standInTime is when folders were changed that a sandbox makes in place of protected ones that are
// missing, for as long as commands run: see placeholder in sandbox/bwrap. They are no change.
const standInTime = int64(time.Second)

// same reports whether nothing happened to an entry between two looks, of which the first
// took a file for young that changed after that time.
func (e *entry) same(now *entry, young int64) bool {
	return e.kind == now.kind && e.sig == now.sig && e.target == now.target && (e.kind != file || e.ctime < young)
}

// place says what git has to do with an entry: whether it has it, or ignores it.
// Was is what an earlier look found; nil if it found nothing.
func (w *walk) place(e, was *entry, name string, at where) (skip bool) {
	if was != nil && (was.kind == ignoredFile || was.kind == ignoredFolder) {
		e.kind = was.kind
		return true
	}
	if was != nil {
		return false
	}
	isFolder := e.kind == folder
	if at.repo == nil {
		if isFolder && builtFolders[name] {
			e.kind = ignoredFolder
		}
		return e.kind == ignoredFolder
	}
	key := e.path
	if len(at.prefix)+len(name) != len(key) { // the top of the repository is not ours
		key = at.prefix + name
	}
	if isFolder {
		if at.repo.index.dirs[key] || !at.ignored && !ignored(at.ignores, key, true) {
			return false
		}
		e.kind = ignoredFolder
		return true
	}
	if t, ok := at.repo.index.files[key]; ok {
		if e.kind == file {
			e.tracked, e.clean = t, t.unchanged(&e.sig, at.repo.written)
		}
		return false
	}
	if e.path != w.named && (at.ignored || len(at.ignores) > 0 && ignored(at.ignores, key, false)) {
		e.kind = ignoredFile
	}
	return false
}

// into looks at a folder, with a further worker if one is idle.
func (w *walk) into(fd int, name string, e *entry, at where) {
	next, err := openFolder(fd, name)
	if err != nil {
		if !errors.Is(err, unix.ENOENT) {
			w.shut(e.path)
		}
		return
	}
	if at.repo != nil {
		at.prefix += name + "/"
		at.ignored = at.ignored || len(at.ignores) > 0 && ignored(at.ignores, strings.TrimSuffix(at.prefix, "/"), true)
	}
	path := e.path
	select {
	case w.busy <- struct{}{}:
		w.group.Go(func() {
			w.dir(next, path, at)
			<-w.busy
		})
	default:
		w.dir(next, path, at)
	}
}

func readLink(fd int, name string) string {
	for size := 256; size <= 64<<10; size *= 4 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(fd, name, buf)
		if err != nil {
			return ""
		}
		if n < size {
			return string(buf[:n])
		}
	}
	return ""
}
