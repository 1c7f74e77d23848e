package bwrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A placeholder stands where a protected path does not exist yet: something must be there
// for the kernel to mount over. It is an empty folder (or a small file) of the host, there
// only while commands run.
//
// Commands of several programs may need the same one. Each holds a shared lock on it, and
// whoever lets go last removes it: taking away a folder that is still mounted over would
// take the protection away too. A mark in its time tells a placeholder that a crash left
// behind from a folder that somebody made.
type placeholder struct {
	path string
	lock *os.File // the placeholder itself
}

// placeholderFiles are the names that git and agents would stumble over if they were folders, and
// what is in them. An empty config says nothing; a common folder of "." is the same one.
var placeholderFiles = map[string]string{
	"config": "", "config.worktree": "", "commondir": ".\n",
	"settings.json": "{}\n", "settings.local.json": "{}\n", "managed-settings.json": "{}\n", "hooks.json": "{}\n",
}

// placeholderTime is the mark: nobody's folder was last changed at this moment.
var placeholderTime = time.Unix(1, 0)

// attempts is how often a placeholder is made anew because another program took it away
// at the same moment.
const attempts = 100

// hold makes the placeholder at a path, or joins those who hold it already. Something real
// that was made there in the meantime is left alone and held as well. It is a folder unless
// it is to be a file, or has a name that only files have.
func hold(path string, file bool) (*placeholder, error) {
	for range attempts {
		made := makePlaceholder(path, file)
		if made != nil && !errors.Is(made, fs.ErrExist) {
			return nil, fmt.Errorf("making a placeholder for a protected path: %w", made)
		}
		lock, err := openNoLinks(path, unix.O_RDONLY|unix.O_NONBLOCK)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("holding a placeholder: %w", err)
		}
		if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err == nil && isAt(lock, path) {
			if made == nil {
				mark(lock)
			}
			return &placeholder{path, lock}, nil
		}
		lock.Close()
	}
	return nil, fmt.Errorf("the placeholder %s is taken away again and again by another program", path)
}

// makePlaceholder makes the folder or file. Its parent leads through no link.
func makePlaceholder(path string, file bool) error {
	parent, err := openNoLinks(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer parent.Close()
	base := filepath.Base(path)
	content, isFile := placeholderFiles[base]
	if !isFile && !file {
		return unix.Mkdirat(int(parent.Fd()), base, 0o755)
	}
	fd, err := unix.Openat(int(parent.Fd()), base, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), path)
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// mark gives a placeholder its time. Without it, it is only not recognised after a crash.
func mark(f *os.File) {
	t := unix.NsecToTimeval(placeholderTime.UnixNano())
	_ = unix.Futimes(int(f.Fd()), []unix.Timeval{t, t})
}

// release lets go of the placeholder, and removes it if nobody else holds it.
func (p *placeholder) release() error {
	defer p.lock.Close()
	if !isMarked(p.path) {
		return nil // somebody's own
	}
	err := removeLocked(p.lock, p.path)
	if errors.Is(err, errHeld) {
		return nil // by another program, which will
	}
	return err
}

// errHeld says that somebody else holds a placeholder.
var errHeld = errors.New("the placeholder is held")

// remove removes a placeholder that a program left behind when it was killed.
func remove(path string) error {
	f, err := openNoLinks(path, unix.O_RDONLY|unix.O_NONBLOCK)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return removeLocked(f, path)
}

// removeLocked removes a placeholder if nobody else holds it and nothing was put in it.
func removeLocked(f *os.File, path string) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return errHeld
	case err != nil:
		return fmt.Errorf("removing the placeholder %s: %w", path, err)
	case !untouched(f, path) || !isAt(f, path):
		return nil
	}
	parent, err := openNoLinks(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return fmt.Errorf("removing the placeholder %s: %w", path, err)
	}
	defer parent.Close()
	flags := unix.AT_REMOVEDIR
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		flags = 0
	}
	if err := unix.Unlinkat(int(parent.Fd()), filepath.Base(path), flags); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the placeholder %s: %w", path, err)
	}
	return nil
}

// untouched reports whether this is still what makePlaceholder made.
func untouched(f *os.File, path string) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	if info.Mode().IsRegular() {
		content := placeholderFiles[filepath.Base(path)]
		data := make([]byte, len(content)+1)
		n, _ := f.ReadAt(data, 0)
		return string(data[:n]) == content
	}
	entries, err := os.ReadDir(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	return err == nil && info.IsDir() && len(entries) == 0
}

// isMarked reports whether what stands at a path is a placeholder.
func isMarked(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.ModTime().Equal(placeholderTime)
}

// isAt reports whether an open file is the one at the path.
func isAt(f *os.File, path string) bool {
	now, err := os.Lstat(path)
	if err != nil {
		return false
	}
	was, err := f.Stat()
	return err == nil && os.SameFile(now, was)
}

// openNoLinks opens a path none of whose parts is a symbolic link.
func openNoLinks(path string, flags int) (*os.File, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
