package roots

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

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
