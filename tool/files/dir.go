package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A dir is an open folder below a root. Names are looked up in it directly: no
// method takes a path, and none follows a link.
type dir struct {
	f        *os.File
	made     []madeDir // the folders that were made on the way to it
	portable bool      // do not use the system's own exchange; for tests
}

// openDir opens a folder below the root, element by element. With create, what
// is missing is made.
func openDir(root *os.Root, rel string, create bool) (*dir, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	d := &dir{f: f}
	for element := range strings.SplitSeq(rel, "/") {
		if element == "" || element == "." {
			continue
		}
		next, err := d.step(element, create)
		if err != nil {
			d.discard()
			return nil, err
		}
		d = next
	}
	return d, nil
}

// sub opens a folder in the folder.
func (d *dir) sub(name string) (*dir, error) {
	f, err := d.openat(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &dir{f: f, portable: d.portable}, nil
}

func (d *dir) close() {
	d.f.Close()
	for _, m := range d.made {
		m.in.Close()
	}
}

func (d *dir) fd() int { return int(d.f.Fd()) }

func (d *dir) openat(name string, flags int, perm uint32) (*os.File, error) {
	var fd int
	err := retry(func() (err error) {
		// Without O_NONBLOCK a fifo that was swapped in would hang us.
		fd, err = unix.Openat(d.fd(), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// retry calls again what a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func (d *dir) unlink(name string) error {
	return retry(func() error { return unix.Unlinkat(d.fd(), name, 0) })
}

func (d *dir) sync() error {
	err := d.f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // a file system that cannot sync folders
	}
	return err
}

// open opens a file to be read. What is no regular file is not even touched.
func (d *dir) open(name string) (*os.File, unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, st, err
	}
	if err := regular(st); err != nil {
		return nil, st, err
	}
	f, err := d.openat(name, unix.O_RDONLY, 0)
	if err != nil {
		return nil, st, err
	}
	if err = unix.Fstat(int(f.Fd()), &st); err == nil {
		err = regular(st)
	}
	if err != nil {
		f.Close()
		return nil, st, err
	}
	return f, st, nil
}

func regular(st unix.Stat_t) error {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return nil
	case unix.S_IFDIR:
		return errIsFolder
	case unix.S_IFLNK:
		return unix.ELOOP
	}
	return errSpecial
}

// load reads a file of at most limit bytes, and one byte more of a longer one.
func (d *dir) load(name string, limit int64) (state, error) {
	f, st, err := d.open(name)
	if err != nil {
		return state{}, err
	}
	defer f.Close()
	s := state{exists: true, meta: metaOf(st)}
	s.data, err = io.ReadAll(io.LimitReader(f, limit+1))
	return s, err
}

// step opens a folder in the folder, makes it if it is missing and may be made,
// and gives up the folder itself unless something was made in it.
func (d *dir) step(name string, create bool) (*dir, error) {
	next, err := d.sub(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		return d.make(name)
	}
	if err != nil {
		return nil, err
	}
	next.made = d.made
	d.f.Close()
	return next, nil
}

// A madeDir is a folder that was made on the way to a file, and goes again if
// the file does not come about.
type madeDir struct {
	in   *os.File
	name string
	id   fileID
}

// A fileID tells a file from another that has its name later.
type fileID struct{ dev, ino uint64 }

func idOf(st unix.Stat_t) fileID { return fileID{uint64(st.Dev), uint64(st.Ino)} }

// make makes a folder in the folder and opens it. If somebody else made it in
// the meantime, it is theirs.
func (d *dir) make(name string) (*dir, error) {
	err := retry(func() error { return unix.Mkdirat(d.fd(), name, 0o777) })
	if errors.Is(err, fs.ErrExist) {
		return d.step(name, false)
	}
	if err != nil {
		return nil, err
	}
	next, err := d.sub(name)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(next.fd(), &st); err != nil {
		next.close()
		return nil, err
	}
	next.made = append(slices.Clip(d.made), madeDir{in: d.f, name: name, id: idOf(st)})
	return next, nil
}

// discard closes the folder and removes those that were made on the way to it,
// as far as they are still ours and empty.
func (d *dir) discard() {
	for _, m := range slices.Backward(d.made) {
		var st unix.Stat_t
		err := unix.Fstatat(int(m.in.Fd()), m.name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil || idOf(st) != m.id {
			break
		}
		// A folder that is not empty stays, and so do those around it.
		if unix.Unlinkat(int(m.in.Fd()), m.name, unix.AT_REMOVEDIR) != nil {
			break
		}
	}
	d.close()
}

// closeAfter closes the folder at the end of a change: if it was not made,
// neither were the folders for it.
func (d *dir) closeAfter(err error) {
	if happened(err) {
		d.close()
		return
	}
	d.discard()
}
