package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Resolve says what a name means: which root it is in, and what it turns out to
// be when links are followed. The error is a [*Refusal] if the name can never be
// used, and otherwise says what is wrong with the tree; it shows no host path.
// That there is nothing of the name is no error.
func (s *Set) Resolve(name string) (Place, error) {
	f, rest, err := s.pick(name)
	if err != nil {
		return Place{}, err
	}
	if err := f.anchored(); err != nil {
		return Place{}, err
	}
	p := Place{set: s, root: f, name: path.Join(append([]string{f.Name}, rest...)...)}
	rel := path.Join(rest...)
	p.by, p.rest = f, rel
	if f.file != "" {
		if len(rest) > 0 {
			return Place{}, refuse("%s is a single file: nothing lies below it", f.Name)
		}
		rel = f.file
	}
	p.written = f.lexical(rel)
	if p.resolved, err = f.follow(rel); err != nil {
		return Place{}, p.failed(err)
	}
	p.rel = f.rel(p.resolved.abs)
	p.Info = p.last().info
	return p, nil
}

func (p *Place) failed(err error) error {
	if errors.Is(err, errOut) || errors.Is(err, errLoop) {
		return refuse("%s: %v", p.name, err)
	}
	return fmt.Errorf("%s: %w", p.name, Plain(err))
}

// lexical returns where the name points if no part of it is a link.
func (f *folder) lexical(rel string) location {
	loc := location{abs: f.dir(), steps: []step{{abs: f.dir()}}}
	for element := range strings.SplitSeq(rel, "/") {
		if element != "" {
			loc.abs = join(loc.abs, element)
			loc.steps = append(loc.steps, step{abs: loc.abs})
		}
	}
	return loc
}

// follow walks down from the root, following links as the system does, and
// never out of the root.
func (f *folder) follow(rel string) (location, error) {
	info, err := f.handle.Lstat(".")
	if err != nil {
		return location{}, err
	}
	w := walk{on: f, steps: []step{{f.dir(), info}}, todo: strings.Split(rel, "/")}
	return w.run()
}

// A folder is the ground of its own names.
var _ ground = (*folder)(nil)

func (f *folder) lstat(abs string) (fs.FileInfo, error) { return f.handle.Lstat(f.rel(abs)) }

func (f *folder) readlink(abs string) (string, error) {
	if f.file != "" {
		return "", errOut // only the one name is reachable
	}
	return f.handle.Readlink(f.rel(abs))
}

func (f *folder) enter(target string) (string, error) {
	if rel, ok := f.inside(target); ok {
		return rel, nil
	}
	return "", errOut
}

func (f *folder) above() error { return errOut }

// rel returns the path below the root's handle of something in it.
func (f *folder) rel(abs string) string {
	return strings.TrimPrefix(strings.TrimPrefix(abs, f.dir()), "/")
}

// inside returns the part of an absolute path below the root, in every spelling
// of the root.
func (f *folder) inside(abs string) (string, bool) {
	for _, g := range f.names {
		for _, dir := range []string{g.real, g.host} {
			if below(dir, abs) {
				return abs[len(strings.TrimSuffix(dir, "/")):], true
			}
		}
	}
	return "", false
}

// maxLinks is how many symbolic links one name may lead through.
const maxLinks = 40

// Why a name cannot be followed.
var (
	errOut       = errors.New("it is a link that leads out of its root")
	errLoop      = errors.New("it leads through too many links")
	errNotFolder = errors.New("a part of it is a file and not a folder")
)

// A ground is what names are followed on: a root, or the whole host. It opens
// nothing that it is asked about.
type ground interface {
	lstat(abs string) (fs.FileInfo, error)
	readlink(abs string) (string, error)
	// enter returns where an absolute link goes on below the first step.
	enter(target string) (rel string, err error)
	// above is the answer to `..` at the first step.
	above() error
}

// A walk is a name that is being followed, as the system would follow it.
type walk struct {
	on    ground
	steps []step
	todo  []string
	links int
}

func (w *walk) run() (location, error) {
	for len(w.todo) > 0 {
		element := w.todo[0]
		w.todo = w.todo[1:]
		if err := w.take(element); err != nil {
			return location{}, err
		}
	}
	return location{abs: w.last().abs, steps: w.steps}, nil
}

func (w *walk) last() step { return w.steps[len(w.steps)-1] }

func (w *walk) take(element string) error {
	switch element {
	case "", ".":
		return nil
	case "..":
		if len(w.steps) == 1 {
			return w.on.above()
		}
		w.steps = w.steps[:len(w.steps)-1]
		return nil
	}
	at := w.last()
	if at.info != nil && !at.info.IsDir() {
		return errNotFolder
	}
	next := step{abs: join(at.abs, element)}
	if at.info == nil {
		w.steps = append(w.steps, next) // below what is not there is nothing
		return nil
	}
	info, err := w.on.lstat(next.abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, syscall.ENOTDIR):
		return errNotFolder
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return w.link(next.abs)
	default:
		next.info = info
	}
	w.steps = append(w.steps, next)
	return nil
}

// link goes on where a symbolic link points to.
func (w *walk) link(abs string) error {
	if w.links++; w.links > maxLinks {
		return errLoop
	}
	target, err := w.on.readlink(abs)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) {
		if target, err = w.on.enter(target); err != nil {
			return err
		}
		w.steps = w.steps[:1]
	}
	w.todo = append(strings.Split(target, "/"), w.todo...)
	return nil
}

// join adds an element to a clean absolute path.
func join(abs, element string) string {
	if abs == "/" {
		return abs + element
	}
	return abs + "/" + element
}
