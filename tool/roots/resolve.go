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

// maxLinks is how many symbolic links one name may lead through.
const maxLinks = 40

// Resolve says what a name means: which root it is in, and what it turns out to
// be when links are followed. The error is a [*Refusal] if the name can never be
// used, and otherwise says what is wrong with the tree; it shows no host path.
// That there is nothing of the name is no error.
func (s *Set) Resolve(name string) (Place, error) {
	f, rest, err := s.pick(name)
	if err != nil {
		return Place{}, err
	}
	p := Place{set: s, root: f, name: path.Join(append([]string{f.Name}, rest...)...)}
	rel := path.Join(rest...)
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
	p.rel = strings.TrimPrefix(strings.TrimPrefix(p.resolved.abs, f.dir()), "/")
	p.Info = p.resolved.steps[len(p.resolved.steps)-1].info
	return p, nil
}

// Why a name cannot be followed.
var (
	errOut       = errors.New("it is a link that leads out of its root")
	errLoop      = errors.New("it leads through too many links")
	errNotFolder = errors.New("a part of it is a file and not a folder")
)

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
			loc.abs = filepath.Join(loc.abs, element)
			loc.steps = append(loc.steps, step{abs: loc.abs})
		}
	}
	return loc
}

// follow walks down from the root, following links as the system does, and
// never out of the root.
func (f *folder) follow(rel string) (location, error) {
	w := walk{folder: f, todo: strings.Split(rel, "/")}
	info, err := f.handle.Lstat(".")
	if err != nil {
		return location{}, err
	}
	w.steps = []step{{f.dir(), info}}
	for len(w.todo) > 0 {
		element := w.todo[0]
		w.todo = w.todo[1:]
		if err := w.take(element); err != nil {
			return location{}, err
		}
	}
	return location{abs: w.steps[len(w.steps)-1].abs, steps: w.steps}, nil
}

// A walk is a name that is being followed.
type walk struct {
	*folder
	steps []step
	todo  []string
	links int
}

func (w *walk) take(element string) error {
	switch element {
	case "", ".":
		return nil
	case "..":
		if len(w.steps) == 1 {
			return errOut
		}
		w.steps = w.steps[:len(w.steps)-1]
		return nil
	}
	at := w.steps[len(w.steps)-1]
	if at.info != nil && !at.info.IsDir() {
		return errNotFolder
	}
	next := step{abs: filepath.Join(at.abs, element)}
	if at.info == nil {
		w.steps = append(w.steps, next) // below what is not there is nothing
		return nil
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(next.abs, w.dir()), "/")
	info, err := w.handle.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, syscall.ENOTDIR):
		return errNotFolder
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return w.link(rel)
	default:
		next.info = info
	}
	w.steps = append(w.steps, next)
	return nil
}

// link goes on where a symbolic link points to.
func (w *walk) link(rel string) error {
	if w.links++; w.links > maxLinks {
		return errLoop
	}
	if w.file != "" {
		return errOut // only the one name is reachable
	}
	target, err := w.handle.Readlink(rel)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) {
		inside, ok := w.inside(target)
		if !ok {
			return errOut
		}
		w.steps, target = w.steps[:1], inside
	}
	w.todo = append(strings.Split(target, "/"), w.todo...)
	return nil
}

// inside returns the part of an absolute path below the root, in either
// spelling of the root.
func (f *folder) inside(abs string) (string, bool) {
	for _, dir := range []string{f.real, f.host} {
		if below(dir, abs) {
			return abs[len(strings.TrimSuffix(dir, "/")):], true
		}
	}
	return "", false
}
