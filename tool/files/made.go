package files

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

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
