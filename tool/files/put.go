package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/roots"
)

// put makes next lie under name, if what lies there is still was. It happens in
// one step: nobody sees half a file. If something else lies there, it stays or
// is put back, and the error wraps [approval.ErrChanged]; if somebody is writing
// to it, [ErrBusy].
func (d *dir) put(name string, was, next state) error {
	if was.exists {
		if err := d.check(name, was); err != nil {
			return err
		}
	}
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
		return after(d.sync())
	}
	// What lay under name lies aside now.
	if err := d.check(aside, was); err != nil {
		return d.takeBack(aside, name, next, err)
	}
	return after(d.unlink(aside), d.sync())
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
	aside := tempName(next, was)
	f, err := d.openat(aside, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	_, err = f.Write(next.data)
	if err == nil && m.known {
		err = m.apply(int(f.Fd()), was.exists)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, d.unlink(aside))
	}
	return aside, nil
}

// apply gives the file its owner and its mode. With strict, the owner must come
// about; else a file that stays our own does not run as its owner. Extended
// attributes are not kept.
func (m meta) apply(fd int, strict bool) error {
	mode := m.mode
	if err := m.chown(fd); err != nil {
		if strict {
			return fmt.Errorf("its owner and group cannot be kept: %w", err)
		}
		mode &^= unix.S_ISUID | unix.S_ISGID
	}
	return unix.Fchmod(fd, mode)
}

func (m meta) chown(fd int) error {
	if m.uid < 0 {
		return errors.New("it has no owner of its own")
	}
	return unix.Fchown(fd, m.uid, m.gid)
}

// check reports why what lies under name is not the file was any more:
// [approval.ErrChanged], or [ErrBusy] if it still is and somebody may be about to
// write to it.
func (d *dir) check(name string, was state) error {
	f, _, err := d.open(name)
	if err != nil {
		return changed("it was changed")
	}
	defer f.Close()
	busy := beingWritten(f)
	data, err := io.ReadAll(io.LimitReader(f, int64(len(was.data))+1))
	switch {
	case err != nil || !bytes.Equal(data, was.data):
		return changed("it was changed")
	case busy:
		return ErrBusy
	}
	return nil
}

// takeBack undoes an exchange and returns why it had to: what lies aside goes
// back under name. If what comes out in turn is not the file that we put there,
// it is kept.
func (d *dir) takeBack(aside, name string, ours state, why error) error {
	err := d.exchange(aside, name)
	if errors.Is(err, fs.ErrNotExist) {
		// Somebody took our file away; nothing is in the way.
		if err = d.renameNew(aside, d, name); err == nil {
			return why
		}
	}
	if err != nil || d.check(aside, ours) != nil {
		return &KeptError{Aside: aside}
	}
	return errors.Join(why, d.unlink(aside))
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
