package snapshot

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// ErrAsBefore says that there is nothing to undo: everything is as it was.
var ErrAsBefore = errors.New("everything is already as it was before the command")

// A Plan is a command about to be undone. Show its steps, then apply it.
type Plan struct {
	Record Record
	// Steps say what happens to each file; Kept what stays as it is, and why.
	Steps, Kept []string

	store *Store
	set   *roots.Set
	do    []Change
}

// Plan prepares to undo a command. It changes nothing. A file that is not what the command
// left is not touched: what came later would be lost. The error wraps [ErrNoRecord] if nothing
// is kept, and [ErrAsBefore] if there is nothing to do.
//
// It is for the person's own command: it asks nobody, and stays in the roots of the set.
func (s *Store) Plan(_ context.Context, id string, set *roots.Set) (*Plan, error) {
	rec, err := s.Get(id)
	if err != nil {
		return nil, err
	}
	p := &Plan{Record: rec, store: s, set: set}
	for _, c := range rec.Changes {
		name := p.name(c)
		switch now := p.now(c); {
		case now.same(c.Was, &rec, p.top(c), string(c.Path)):
		case !now.same(c.Left, &rec, p.top(c), string(c.Path)):
			p.Kept = append(p.Kept, name+": it has changed since; undoing would lose that")
		default:
			if why := p.refused(c); why != "" {
				p.Kept = append(p.Kept, name+": "+why)
				continue
			}
			p.do = append(p.do, c)
			p.Steps = append(p.Steps, c.verb()+" "+name)
		}
	}
	if len(p.do) == 0 && len(p.Kept) == 0 {
		return nil, fmt.Errorf("undo %s: %w", id, ErrAsBefore)
	}
	return p, nil
}

func (p *Plan) top(c Change) string { return string(p.Record.Tops[c.Top]) }

// name is how a person is told of a file.
func (p *Plan) name(c Change) string {
	abs := filepath.Join(p.top(c), string(c.Path))
	if place, _, err := p.set.ResolveHost(p.top(c)); err == nil {
		return path.Join(place.Name(), string(c.Path))
	}
	return abs
}

// verb says what undoing the change does.
func (c Change) verb() string {
	switch {
	case c.Was.Kind == none && c.Left.Kind == folder:
		return "Remove the folder"
	case c.Was.Kind == none:
		return "Remove"
	case c.Was.Kind == folder && c.Left.Kind == folder:
		return "Set the mode of the folder"
	case c.Was.Kind == folder:
		return "Make the folder"
	case c.Left.Kind == none:
		return "Bring back"
	}
	return "Put back"
}

// A found is what lies at a path now.
type found struct {
	kind kind
	sig
	target string
}

// now looks at the path of a change. Below a folder that is none any more nothing lies.
func (p *Plan) now(c Change) found {
	dir, base, err := openParent(p.top(c), string(c.Path))
	if err != nil {
		return found{}
	}
	defer unix.Close(dir)
	return lookAt(dir, base)
}

func lookAt(dir int, base string) found {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return found{}
	}
	f := found{sig: sigOf(&st)}
	if f.kind = f.sig.kind(); f.kind == link {
		f.target = readLink(dir, base)
	}
	return f
}

// same reports whether it is what was there then.
func (f found) same(t Then, r *Record, top, rel string) bool {
	if f.kind != t.Kind {
		return false
	}
	switch f.kind {
	case none, special:
		return true
	case link:
		return f.target == string(t.Target)
	case folder:
		return f.perm() == t.Mode
	}
	if f.perm() != t.Mode {
		return false
	}
	if t.Identity != "" {
		return t.Identity == fmt.Sprintf("%x:%x:%x:%x", f.dev, f.ino, f.size, f.ctime)
	}
	id, err := hex.DecodeString(t.Digest + t.Blob)
	if err != nil {
		return false
	}
	src := source{inStore, newBlobID(id)}
	if t.Blob != "" {
		src.kind = inGit
	}
	return holds(top, &entry{path: rel, sig: f.sig}, src)
}

// refused says why no tool could do what undoing the change does: the file is protected, in
// no root by now, or read-only. What undoing a creation deletes was written, and what undoing a
// deletion writes was deleted: a root that denies one of the two does not forbid it.
func (p *Plan) refused(c Change) string {
	blocked := func(act func(roots.Access) policy.Act) string {
		write, remove := act(roots.AccessWrite), act(roots.AccessDelete)
		if write.Verdict == policy.VerdictBlock && remove.Verdict == policy.VerdictBlock {
			return "it cannot be restored: " + write.Why
		}
		return ""
	}
	abs := filepath.Join(p.top(c), string(c.Path))
	dir := filepath.Dir(abs)
	for !utf8.ValidString(dir) {
		dir = filepath.Dir(dir) // a name of which no policy can speak: the folder above says it
	}
	place, inside, err := p.set.ResolveHost(dir)
	switch {
	case err != nil:
		return err.Error()
	case place.Key() != dir:
		return "" // a link is in the way, which undoing removes first; it is asked again then
	case !inside:
		return "it is in no root of the policy any more"
	}
	if why := blocked(place.FolderAct); why != "" {
		return why
	}
	if place, inside, err = p.set.ResolveHost(abs); err != nil || !inside || place.Key() != abs {
		return "" // it is a link now
	}
	return blocked(place.Act)
}

// Apply puts everything back as it was, as far as it still is what was planned for. The error
// says for each file that was not put back why.
func (p *Plan) Apply(ctx context.Context) error {
	a := &applying{Plan: p, ctx: ctx}
	defer a.close()
	// First what is in the way goes, the deepest first; then folders come, the highest first.
	for _, c := range slices.Backward(p.do) {
		if c.Was.Kind == none || (c.Was.Kind == folder) != (c.Left.Kind == folder) {
			a.change(c, a.remove)
		}
	}
	for _, c := range p.do {
		if c.Was.Kind == folder {
			a.change(c, a.makeFolder)
		}
	}
	for _, c := range p.do {
		if c.Was.Kind == file || c.Was.Kind == link {
			a.change(c, a.put)
		}
	}
	return errors.Join(a.errs...)
}

// An applying is a plan being applied.
type applying struct {
	*Plan
	ctx  context.Context
	errs []error
	gits map[int]*blobs
}

func (a *applying) close() {
	for _, g := range a.gits {
		g.close()
	}
}

// change does one thing in the folder of a change.
func (a *applying) change(c Change, do func(c Change, dir int, base string) error) {
	err := a.ctx.Err()
	if why := a.refused(c); err == nil && why != "" {
		err = errors.New(why)
	}
	if err == nil {
		var dir int
		var base string
		if dir, base, err = openParent(a.top(c), string(c.Path)); err == nil {
			err = do(c, dir, base)
			unix.Close(dir)
		}
	}
	if err != nil {
		a.errs = append(a.errs, fmt.Errorf("%s: %w", a.name(c), err))
	}
}

var errChanged = errors.New("it has changed since it was shown")

func (a *applying) remove(c Change, dir int, base string) error {
	now := lookAt(dir, base)
	if now.kind == none {
		return nil
	}
	if !now.same(c.Left, &a.Record, a.top(c), string(c.Path)) {
		return errChanged
	}
	if now.kind == folder {
		if err := unix.Unlinkat(dir, base, unix.AT_REMOVEDIR); errors.Is(err, unix.ENOTEMPTY) ||
			errors.Is(err, unix.EEXIST) {
			return errors.New("the folder is not empty, so it stays")
		} else if err != nil {
			return err
		}
		return nil
	}
	return unix.Unlinkat(dir, base, 0)
}

func (a *applying) makeFolder(c Change, dir int, base string) error {
	if err := unix.Mkdirat(dir, base, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	fd, err := openFolder(dir, base)
	if errors.Is(err, unix.EACCES) { // closed to us, but ours
		return unix.Fchmodat(dir, base, c.Was.Mode, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_ = unix.Fchown(fd, int(c.Was.UID), int(c.Was.GID)) // if we may
	return unix.Fchmod(fd, c.Was.Mode)
}

// put writes beside the name and renames, so that the file is there whole or not at all.
func (a *applying) put(c Change, dir int, base string) error {
	now := lookAt(dir, base)
	if now.kind != none && !now.same(c.Left, &a.Record, a.top(c), string(c.Path)) {
		return errChanged
	}
	temp := ".assent-undo-" + strings.ToLower(rand.Text()[:12])
	if err := a.write(c, dir, temp); err != nil {
		_ = unix.Unlinkat(dir, temp, 0)
		return err
	}
	return unix.Renameat(dir, temp, dir, base)
}

func (a *applying) write(c Change, dir int, temp string) error {
	if c.Was.Kind == link {
		return unix.Symlinkat(string(c.Was.Target), dir, temp)
	}
	fd, err := unix.Openat(dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), temp)
	defer f.Close()
	if c.Was.Blob != "" {
		err = a.blob(c, f)
	} else {
		err = a.copy(c, f)
	}
	if err != nil {
		return err
	}
	_ = unix.Fchown(fd, int(c.Was.UID), int(c.Was.GID)) // if we may
	if err := unix.Fchmod(fd, c.Was.Mode); err != nil {
		return err
	}
	return f.Close()
}

// copy writes what the store has.
func (a *applying) copy(c Change, to io.Writer) error {
	id, err := hex.DecodeString(c.Was.Digest)
	if err != nil || len(id) != sha256.Size {
		return errDamaged
	}
	f, err := os.Open(a.store.object(newBlobID(id)))
	if err != nil {
		return fmt.Errorf("its copy is gone: %w", err)
	}
	defer f.Close()
	return verified(to, f, sha256.New(), id)
}

// blob writes what git has.
func (a *applying) blob(c Change, to io.Writer) error {
	id, err := hex.DecodeString(c.Was.Blob)
	if err != nil || c.Was.Repo == 0 {
		return errDamaged
	}
	g := a.gits[c.Was.Repo]
	if g == nil {
		if g, err = openBlobs(a.ctx, a.store.Git, a.Record.Repos[c.Was.Repo-1]); err != nil {
			return fmt.Errorf("git cannot be asked for it: %w", err)
		}
		if a.gits == nil {
			a.gits = map[int]*blobs{}
		}
		a.gits[c.Was.Repo] = g
	}
	content, size, err := g.get(c.Was.Blob)
	if err != nil {
		return err
	}
	h := gitHash(uint8(len(id)))
	fmt.Fprintf(h, "blob %d\x00", size)
	err = verified(to, content, h, id)
	return errors.Join(err, g.next())
}

// verified copies, and fails if the content is not what it should be.
func verified(to io.Writer, from io.Reader, h hash.Hash, want []byte) error {
	if _, err := io.Copy(io.MultiWriter(to, h), from); err != nil {
		return err
	}
	if !slices.Equal(h.Sum(nil), want) {
		return errors.New("what was kept of it is damaged")
	}
	return nil
}

// blobs is a git that reads out blobs and can do nothing else.
type blobs struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	rest *io.LimitedReader
}

// openBlobs starts git. Nothing that the repository names is started: cat-file without
// --textconv or --filters runs no program, the settings of the user and of the system are not
// read, and a blob that is missing is not fetched.
func openBlobs(ctx context.Context, git string, r Repo) (*blobs, error) {
	if git == "" {
		return nil, errors.New("git was not found; put it on the PATH")
	}
	cmd := exec.CommandContext(ctx, git, "--no-replace-objects", "--no-pager", "--git-dir="+string(r.GitDir),
		"-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "core.alternateRefsCommand=",
		"-c", "core.sshCommand=false",
		"-c", "core.askPass=", "-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "safe.directory=*",
		"cat-file", "--batch")
	cmd.Dir = "/"
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=",
	}
	b := &blobs{cmd: cmd}
	var err error
	if b.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReaderSize(out, 64<<10)
	return b, cmd.Start()
}

// get asks for a blob. Read it, then call next.
func (b *blobs) get(id string) (io.Reader, int64, error) {
	if _, err := io.WriteString(b.in, id+"\n"); err != nil {
		return nil, 0, fmt.Errorf("git ended: %w", err)
	}
	line, err := b.out.ReadString('\n')
	if err != nil {
		return nil, 0, fmt.Errorf("git ended: %w", err)
	}
	var size int64
	if _, err := fmt.Sscanf(line, id+" blob %d\n", &size); err != nil {
		return nil, 0, errors.New("git does not have its content any more")
	}
	b.rest = &io.LimitedReader{R: b.out, N: size}
	return b.rest, size, nil
}

func (b *blobs) next() error {
	if _, err := io.Copy(io.Discard, b.rest); err != nil {
		return err
	}
	_, err := b.out.ReadByte() // a newline
	return err
}

func (b *blobs) close() {
	b.in.Close()
	_ = b.cmd.Wait() // it has said all that it was asked
}
