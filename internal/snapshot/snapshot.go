package snapshot

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// Roots are the folders in which a store keeps what commands change. It is safe for concurrent
// use.
type Roots struct {
	store *Store
	set   *roots.Set
	tops  []string // folders, without links; none lies in another
	files []string // roots that are files, and in none of tops

	mu              sync.Mutex
	looked, tooMany bool // what the last look at everything found
}

var _ shell.Undo = (*Roots)(nil)

// Over returns the writable roots of a set.
func (s *Store) Over(set *roots.Set) *Roots {
	r := &Roots{store: s, set: set}
	for _, root := range set.Roots() {
		host, err := filepath.EvalSymlinks(root.Host)
		if err != nil || root.Mode != roots.ModeReadWrite {
			continue
		}
		if info, err := os.Stat(host); err == nil && !info.IsDir() {
			r.files = append(r.files, host)
		} else {
			r.tops = append(r.tops, host)
		}
	}
	r.tops = outermost(r.tops)
	r.files = slices.DeleteFunc(r.files, func(f string) bool { return r.top(f) != "" })
	return r
}

// outermost leaves out what lies in another of them.
func outermost(paths []string) []string {
	all := slices.Compact(slices.Sorted(slices.Values(paths)))
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool {
		return slices.ContainsFunc(all, func(o string) bool { return o != p && within(p, o) })
	})
}

func within(path, dir string) bool {
	return path == dir || dir == "" || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// top is the folder that a path lies in; empty for none.
func (r *Roots) top(path string) string {
	for _, top := range r.tops {
		if within(path, top) {
			return top
		}
	}
	return ""
}

// A scope is what is looked at below a top; an empty path is all.
type scope struct {
	top  string
	rels []string
}

// scopes are what a command may change.
func (r *Roots) scopes(c shell.Change) []scope {
	var out []scope
	add := func(top, rel string) {
		i := slices.IndexFunc(out, func(s scope) bool { return s.top == top })
		if i < 0 {
			i, out = len(out), append(out, scope{top: top})
		}
		out[i].rels = append(out[i].rels, rel)
	}
	if c.Whole {
		for _, top := range r.tops {
			add(top, "")
		}
		for _, f := range r.files {
			add(filepath.Dir(f), filepath.Base(f))
		}
		return out
	}
	for _, path := range c.Paths {
		for _, path := range reals(path) {
			if top := r.top(path); top != "" {
				rel, err := filepath.Rel(top, path)
				if err == nil && rel == "." {
					rel = ""
				}
				if err == nil && !slices.Contains(strings.Split(rel, "/"), ".git") {
					add(top, rel)
				}
			} else if slices.Contains(r.files, path) {
				add(filepath.Dir(path), filepath.Base(path))
			}
		}
	}
	for i := range out {
		out[i].rels = outermost(out[i].rels)
	}
	return out
}

// reals are what a path may mean to a command: what lies at the name, and what it leads to if
// that is a link. The folders on the way are without links.
func reals(path string) []string {
	dir, base := filepath.Split(filepath.Clean(path))
	name := filepath.Join(realFolder(filepath.Clean(dir)), base)
	if real, err := filepath.EvalSymlinks(path); err == nil && real != name {
		return []string{name, real}
	}
	return []string{name}
}

// realFolder resolves the links of a folder, of which the last parts may not be there yet.
func realFolder(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil || dir == filepath.Dir(dir) {
		return cmp.Or(real, dir)
	}
	return filepath.Join(realFolder(filepath.Dir(dir)), filepath.Base(dir))
}

// Covers implements [shell.Undo].
func (r *Roots) Covers(ctx context.Context, c shell.Change) string {
	for _, path := range c.Paths {
		if slices.ContainsFunc(reals(path),
			func(real string) bool { return r.top(real) == "" && !slices.Contains(r.files, real) }) {
			return "undo covers files in writable roots, and it writes " + path
		}
	}
	if !c.Whole {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.looked { // each command that runs looks again
		err := r.store.look(ctx, &before{}, r.scopes(c), nil)
		r.looked, r.tooMany = err == nil || errors.Is(err, errTooMany), errors.Is(err, errTooMany)
	}
	if r.tooMany {
		return r.store.tooMany()
	}
	return ""
}

func (s *Store) tooMany() string {
	return fmt.Sprintf("there are more than %d files that git does not ignore", s.maxFiles())
}

// Before implements [shell.Undo].
func (r *Roots) Before(ctx context.Context, c shell.Change) (func(context.Context) (shell.Kept, error), error) {
	s := r.store
	if err := s.make(); err != nil {
		return nil, err
	}
	s.begin.Do(func() { _ = s.Recover(ctx) }) // what it cannot do now, it can when undo is asked for
	b := &before{Record: Record{ID: strings.ToLower(rand.Text()[:10]), Time: s.now().UTC(), Policy: s.Policy,
		Project: s.Project, Command: c.Text}}
	err := s.look(ctx, b, r.scopes(c), nil)
	if c.Whole {
		r.mu.Lock()
		r.looked, r.tooMany = true, errors.Is(err, errTooMany)
		r.mu.Unlock()
	}
	if errors.Is(err, errTooMany) {
		note := "It cannot be undone: " + s.tooMany() + "."
		return func(context.Context) (shell.Kept, error) { return shell.Kept{Note: note}, nil }, nil
	}
	var dropped int
	if err == nil {
		dropped, err = s.keepAll(ctx, b)
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (shell.Kept, error) {
		rec, err := s.after(ctx, b)
		if err != nil {
			return shell.Kept{}, fmt.Errorf("what the command changed could not be recorded, and what it replaced is "+
				"kept; 'assent undo' tries again: %w", errors.Join(err, b.held.Close()))
		}
		return rec.kept(dropped), nil
	}, nil
}

// kept says in a line what a command changed that can be undone.
func (r *Record) kept(dropped int) shell.Kept {
	k := shell.Kept{Files: r.Files()}
	if len(r.Changes) > 0 {
		k.ID = r.ID
	}
	if n := len(r.Through); n > 0 {
		k.Note = fmt.Sprintf("Changed and not kept for undo: %s.", some(r.Through, 3))
	}
	if dropped > 0 {
		k.Note = strings.TrimSpace(fmt.Sprintf("%s The oldest %d entries for undo were dropped to make room.",
			k.Note, dropped))
	}
	return k
}

// some lists the first of a list.
func some(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// look finds what lies in the scopes, into b. Was is what an earlier look found, if this is
// not the first.
func (s *Store) look(ctx context.Context, b *before, scopes []scope, was []tree) error {
	var skip identity
	if info, err := os.Stat(s.State); s.State != "" && err == nil {
		own := sigOfInfo(info)
		skip = own.identity()
	}
	left := s.maxFiles()
	young := b.Time.Add(-settles).UnixNano()
	for i, sc := range scopes {
		var t tree
		var known map[string]*entry
		t.rules, t.tops = map[string]*ignoreFile{}, map[string]*repo{}
		if was != nil {
			was[i].paths = was[i].byPath()
			known, t.rules, t.tops = was[i].paths, was[i].rules, was[i].tops
		}
		for _, rel := range sc.rels {
			w := walk{ctx: ctx, top: sc.top, cache: &s.indexes, max: left, skip: skip, was: known, rules: t.rules,
				tops: t.tops, young: young}
			if err := w.run(rel); err != nil {
				return err
			}
			left -= w.count.Load()
			t.chunks = append(t.chunks, w.found...)
			t.closed = append(t.closed, w.closed...)
			for _, r := range w.repos {
				b.Repos = append(b.Repos, Repo{Top: Name(r.top), GitDir: Name(r.gitDir), N: r.n, State: r.state()})
			}
		}
		if len(sc.rels) > 1 { // folders on the way to several
			all := slices.Concat(t.chunks...)
			slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.path, b.path) })
			t.chunks = [][]entry{slices.CompactFunc(all, func(a, b entry) bool { return a.path == b.path })}
		}
		b.Tops, b.trees = append(b.Tops, Name(sc.top)), append(b.trees, t)
		rels := make([]Name, len(sc.rels))
		for k, rel := range sc.rels {
			rels[k] = Name(rel)
		}
		b.Rels = append(b.Rels, rels)
	}
	return nil
}

func (t *tree) byPath() map[string]*entry {
	out := make(map[string]*entry, t.len())
	for e := range t.all() {
		out[e.path] = e
	}
	return out
}

// A pick is a file whose content has to be found.
type pick struct {
	top string
	*entry
}

// keepAll makes sure that each content can be had again, and writes down what was found.
func (s *Store) keepAll(ctx context.Context, b *before) (dropped int, err error) {
	var compare, copies, check []pick
	for i := range b.trees {
		for e := range b.trees[i].all() {
			if e.kind != file {
				continue
			}
			if e.clean && s.Git != "" && !e.repo.converts.Load() {
				e.src = source{inGit, e.tracked.blob}
				continue
			}
			p := pick{string(b.Tops[i]), e}
			known, ok := s.remembered(e.identity())
			switch {
			case ok && known.kind == inStore && !e.young(s.now()):
				e.src = known
				check = append(check, p)
			case ok && known.kind == inGit && !e.young(s.now()) && s.Git != "" && e.tracked != nil &&
				known.id == e.tracked.blob:
				e.src = known
			case e.tracked != nil && s.Git != "":
				compare = append(compare, p)
			default:
				copies = append(copies, p)
			}
		}
	}
	// Where git may have just this content, its hash says so.
	err = each(ctx, compare, func(p pick) (err error) {
		p.src, err = s.read(p, func(f *os.File) (source, error) {
			id, err := blobOf(f, p.size, p.tracked.blob.n)
			if err != nil || id != p.tracked.blob {
				return source{}, err
			}
			return source{inGit, id}, nil
		})
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, p := range compare {
		if p.src.kind == unkept && p.kind == file {
			copies = append(copies, p)
		}
	}
	return s.copyAll(ctx, b, copies, check)
}

// copyAll copies files into the store, the smallest first, as far as there is room.
func (s *Store) copyAll(ctx context.Context, b *before, copies, check []pick) (dropped int, err error) {
	fits := func() (out []pick, need int64) {
		slices.SortFunc(copies, func(a, b pick) int { return int(min(max(a.size-b.size, -1), 1)) })
		for _, p := range copies {
			switch {
			case p.size > s.maxFile():
				p.src = source{kind: tooLarge}
			case need+p.size > s.maxBytes():
				p.src = source{kind: noRoom}
			default:
				need += p.size
				out = append(out, p)
			}
		}
		return out, need
	}
	if _, need := fits(); need > 0 {
		if dropped, err = s.makeRoom(ctx, need); err != nil {
			return dropped, err
		}
	}
	unlock, err := s.lock(unix.LOCK_SH)
	if err != nil {
		return dropped, err
	}
	defer unlock()
	for _, p := range check {
		if _, err := os.Lstat(s.object(p.src.id)); err != nil {
			copies = append(copies, p) // it was dropped since
		}
	}
	now, _ := fits()
	err = each(ctx, now, func(p pick) (err error) {
		p.src, err = s.read(p, func(f *os.File) (source, error) { return s.copyFile(f) })
		return err
	})
	if err != nil {
		return dropped, err
	}
	for _, t := range b.trees {
		for i, c := range t.chunks {
			t.chunks[i] = slices.DeleteFunc(c, func(e entry) bool { return e.kind == none }) // it went away
		}
	}
	s.saveSeen()
	return dropped, b.write(s)
}

// read opens a file and finds its content. What went away since becomes none; what cannot be
// read says so. An error is the store's.
func (s *Store) read(p pick, do func(*os.File) (source, error)) (source, error) {
	f, err := openBelow(p.top, p.path)
	var now sig
	if err == nil {
		defer f.Close()
		now, err = fileSig(f)
	}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP),
		err == nil && now.kind() != file:
		p.kind = none
		return source{}, nil
	case err != nil:
		return source{kind: unreadable}, nil
	}
	settled := !now.young(s.now())
	src, err := do(f)
	if errors.Is(err, errRead) {
		return source{kind: unreadable}, nil
	}
	if err != nil {
		return source{}, err
	}
	p.sig = now
	after, err := fileSig(f)
	if settled && err == nil && after == now && (src.kind == inGit || src.kind == inStore) {
		s.remember(now.identity(), src)
	}
	return src, nil
}

func fileSig(f *os.File) (sig, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return sig{}, err
	}
	return sigOf(&st), nil
}

// blobOf is the name that git would give the content.
func blobOf(f *os.File, size int64, n uint8) (blobID, error) {
	h := gitHash(n)
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, &failing{r: f}); err != nil {
		return blobID{}, err
	}
	return newBlobID(h.Sum(nil)), nil
}

// openBelow opens a file for reading without following a link anywhere below the top.
func openBelow(top, rel string) (*os.File, error) {
	dir, base, err := openParent(top, rel)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), rel), nil
}

// openParent opens the folder that holds a path, without following a link below the top.
func openParent(top, rel string) (dir int, base string, err error) {
	dir, err = unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	for err == nil {
		name, rest, more := strings.Cut(rel, "/")
		if !more {
			return dir, name, nil
		}
		var next int
		next, err = openFolder(dir, name)
		unix.Close(dir)
		dir, rel = next, rest
	}
	return -1, "", err
}

// each does something with all of a list, a few at a time. It ends with the first error.
func each[T any](ctx context.Context, list []T, do func(T) error) error {
	var group sync.WaitGroup
	var mu sync.Mutex
	var first error
	next := 0
	for range min(len(list), 2*runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := first != nil || i >= len(list)
				mu.Unlock()
				if stop || ctx.Err() != nil {
					return
				}
				if err := do(list[i]); err != nil {
					mu.Lock()
					first = errors.Join(first, err)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return errors.Join(first, ctx.Err())
}

// after finds what the command changed and records it.
func (s *Store) after(ctx context.Context, b *before) (*Record, error) {
	now := &before{Record: Record{Time: b.Time}}
	scopes := make([]scope, len(b.Tops))
	for i, top := range b.Tops {
		scopes[i].top = string(top)
		for _, rel := range b.Rels[i] {
			scopes[i].rels = append(scopes[i].rels, string(rel))
		}
	}
	if err := s.look(ctx, now, scopes, b.trees); err != nil {
		return nil, err
	}
	rec := b.Record
	for i := range b.trees {
		if err := rec.compare(ctx, i, &b.trees[i], &now.trees[i]); err != nil {
			return nil, err
		}
	}
	for _, r := range rec.Repos {
		rec.Git = rec.Git || (&repo{gitDir: string(r.GitDir)}).state() != r.State
	}
	if len(rec.Changes) > 0 {
		if err := s.keep(rec); err != nil {
			return nil, err
		}
	}
	return &rec, b.end(s)
}

// compare adds what differs in a tree.
func (r *Record) compare(ctx context.Context, at int, was, now *tree) error {
	top := string(r.Tops[at])
	then := was.paths
	var mu sync.Mutex
	add := func(path string, w, l Then) {
		mu.Lock()
		defer mu.Unlock()
		r.Changes = append(r.Changes, Change{Top: at, Path: Name(path), Was: w, Left: l})
	}
	through := func(w *entry) {
		mu.Lock()
		defer mu.Unlock()
		r.Through = append(r.Through, fmt.Sprintf("%s (%s)", filepath.Join(top, w.path), whyNot[w.src.kind]))
	}
	differ := make([]*entry, 0, 16)
	for n := range now.all() {
		w := then[n.path]
		switch {
		case n.kind == ignoredFile, n.kind == ignoredFolder:
		case w != nil && w.kind == folder && n.kind == folder:
			if w.perm() != n.perm() {
				add(n.path, r.then(w), r.then(n))
			}
		default:
			differ = append(differ, n)
		}
	}
	err := each(ctx, differ, func(n *entry) error {
		w := then[n.path]
		if w == nil {
			left, ok := r.left(top, n)
			if ok {
				add(n.path, Then{}, left)
			}
			return nil
		}
		if w.kind == file && n.kind == file && w.perm() == n.perm() && holds(top, n, w.src) {
			return nil // touched, or written anew with what it was
		}
		if w.kind == file && w.src.kind != inGit && w.src.kind != inStore {
			if w.sig != n.sig {
				through(w)
			}
			return nil
		}
		if left, ok := r.left(top, n); ok &&
			(w.kind != n.kind || w.kind == file || w.kind == link && w.target != n.target) {
			add(n.path, r.then(w), left)
		}
		return nil
	})
	for w := range was.all() {
		switch {
		case w.there, w.kind == ignoredFile, w.kind == ignoredFolder:
		case slices.ContainsFunc(now.closed, func(dir string) bool { return within(w.path, dir) }):
			// It may be there still.
		case w.kind == special, w.kind == file && w.src.kind != inGit && w.src.kind != inStore:
			through(w)
		default:
			add(w.path, r.then(w), Then{})
		}
	}
	slices.SortFunc(r.Changes, func(a, b Change) int {
		if a.Top != b.Top {
			return a.Top - b.Top
		}
		return strings.Compare(string(a.Path), string(b.Path))
	})
	slices.Sort(r.Through)
	return err
}

// then is what an entry was.
func (r *Record) then(e *entry) Then {
	t := Then{Kind: e.kind, Mode: e.perm(), UID: e.uid, GID: e.gid, Target: Name(e.target)}
	switch e.src.kind {
	case inStore:
		t.Digest = hex.EncodeToString(e.src.id.bytes())
	case inGit:
		t.Blob = hex.EncodeToString(e.src.id.bytes())
		t.Repo = 1 + slices.IndexFunc(r.Repos,
			func(o Repo) bool { return string(o.GitDir) == e.repo.gitDir && string(o.Top) == e.repo.top })
	}
	return t
}

// maxLeft is the largest file that is read to find out later whether it is still the same.
const maxLeft = 64 << 20

// left is what a command left there; not ok means that it has gone since.
func (r *Record) left(top string, n *entry) (t Then, ok bool) {
	t = r.then(n)
	if n.kind != file {
		return t, true
	}
	t.Identity = fmt.Sprintf("%x:%x:%x:%x", n.dev, n.ino, n.size, n.ctime)
	if n.size > maxLeft {
		return t, true
	}
	f, err := openBelow(top, n.path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return t, false
	}
	if err != nil {
		return t, true
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err == nil {
		t.Digest, t.Identity = hex.EncodeToString(h.Sum(nil)), ""
	}
	return t, true
}

// holds reports whether a file has the content of a source.
func holds(top string, n *entry, src source) bool {
	f, err := openBelow(top, n.path)
	if err != nil {
		return false
	}
	defer f.Close()
	switch src.kind {
	case inGit:
		id, err := blobOf(f, n.size, src.id.n)
		return err == nil && id == src.id
	case inStore:
		h := sha256.New()
		_, err := io.Copy(h, f)
		return err == nil && newBlobID(h.Sum(nil)) == src.id
	}
	return false
}

// Recover records what commands changed whose process was ended before it could.
func (s *Store) Recover(ctx context.Context) error {
	ids, err := s.pending()
	for _, id := range ids {
		err = errors.Join(err, s.recover(ctx, id))
	}
	return err
}

func (s *Store) recover(ctx context.Context, id string) error {
	name := filepath.Join(s.records(), id+beforeSuffix)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil // it still runs
	}
	mine, err := f.Stat()
	if there, gone := os.Stat(name); err != nil || gone != nil || !os.SameFile(mine, there) {
		return err // another process was faster
	}
	b, err := s.readBefore(id)
	if errors.Is(err, errDamaged) {
		return os.Remove(name)
	}
	if err != nil {
		return err
	}
	b.held, b.Interrupted = f, true
	if _, err := s.Get(id); err == nil || s.now().Sub(b.Time) > orElse(s.MaxAge, 30*24*time.Hour) {
		return b.end(s) // it was recorded, or nobody wants it any more
	}
	_, err = s.after(ctx, b)
	return err
}

// Through lists what a command may write in its scopes that is not kept: folders and files
// that git ignores, and files that are too large. It changes nothing.
func (r *Roots) Through(ctx context.Context, c shell.Change) ([]string, error) {
	var b before
	if err := r.store.look(ctx, &b, r.scopes(c), nil); err != nil {
		if errors.Is(err, errTooMany) {
			return []string{"everything: " + r.store.tooMany()}, nil
		}
		return nil, err
	}
	var folders, files []string
	for i, t := range b.trees {
		for e := range t.all() {
			name := filepath.Join(string(b.Tops[i]), e.path)
			switch {
			case e.kind == ignoredFolder:
				folders = append(folders, name+"/")
			case e.kind == ignoredFile:
				files = append(files, name)
			case e.kind == file && e.size > r.store.maxFile() && !e.clean:
				files = append(files, name+" (too large)")
			}
		}
	}
	slices.Sort(folders)
	slices.Sort(files)
	return append(folders, files...), nil
}
