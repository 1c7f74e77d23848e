package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/roots"
	"golang.org/x/sys/unix"
)

// put makes next lie under name, if what lies there is still was. It happens in
// one step: nobody sees half a file. If something else lies there, it stays or
// is put back, and the error wraps [approval.ErrChanged].
func (d *dir) put(name string, was, next state) error {
	aside, err := d.stage(was, next)
	if err != nil {
		return err
	}
	if !was.exists {
		err = d.renameNew(aside, d, name)
	} else {
		err = d.exchange(aside, name)
	}
	if err != nil {
		return errors.Join(notAsShown(err), d.unlink(aside))
	}
	if !was.exists {
		return d.sync()
	}
	// What lay under name lies aside now.
	if !d.holds(aside, was) {
		return d.takeBack(aside, name, next)
	}
	if err := d.unlink(aside); err != nil {
		return err
	}
	return d.sync()
}

// stage writes a file under a new name, ready to take its place.
func (d *dir) stage(was, next state) (string, error) {
	m, perm := next.meta, uint32(0o666)
	if was.exists {
		m = was.meta
	}
	if m.known {
		perm = 0o600 // until its own mode is set
	}
	aside := asideName()
	f, err := d.openat(aside, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	_, err = f.Write(next.data)
	if err == nil && m.known {
		err = m.apply(int(f.Fd()))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, d.unlink(aside))
	}
	return aside, nil
}

// apply gives the file the owner, as far as we may, and the mode. A file that
// stays our own does not run as its owner. Extended attributes are not kept.
func (m meta) apply(fd int) error {
	mode := m.mode
	if m.uid < 0 || unix.Fchown(fd, m.uid, m.gid) != nil {
		mode &^= unix.S_ISUID | unix.S_ISGID
	}
	return unix.Fchmod(fd, mode)
}

// holds reports whether what lies under name is the file was, and nobody is
// about to write to it.
func (d *dir) holds(name string, was state) bool {
	f, _, err := d.open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	if beingWritten(f) {
		return false
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(len(was.data))+1))
	return err == nil && bytes.Equal(data, was.data)
}

// takeBack undoes an exchange: what lies aside goes back under name. If what
// comes out in turn is not the file that we put there, it is kept.
func (d *dir) takeBack(aside, name string, ours state) error {
	err := d.exchange(aside, name)
	if errors.Is(err, fs.ErrNotExist) {
		// Somebody took our file away; nothing is in the way.
		if err = d.renameNew(aside, d, name); err == nil {
			return changed("it was changed")
		}
	}
	if err != nil || !d.holds(aside, ours) {
		return &KeptError{Aside: aside}
	}
	return errors.Join(changed("it was changed"), d.unlink(aside))
}

// notAsShown turns the errors of a name that is not what it was into a change.
func notAsShown(err error) error {
	switch {
	case errors.Is(err, approval.ErrChanged):
		return err
	case errors.Is(err, fs.ErrExist):
		return changed("there is something of this name now")
	case errors.Is(err, fs.ErrNotExist):
		return changed("it is not there any more")
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return changed("a part of its path has changed")
	}
	return roots.Plain(err)
}
