package files

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
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
		return &KeptError{Path: aside}
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

// drop removes the file under name, if it is still was. It is first moved aside
// and compared; if it is something else it is put back, or kept beside if its
// name is taken. The errors are those of put.
func (d *dir) drop(name string, was state) error {
	if err := d.check(name, was); err != nil {
		return err
	}
	aside, err := d.moveToTemp(name, d, was)
	if err != nil {
		return notAsShown(err)
	}
	if err := d.check(aside, was); err != nil {
		return d.returnTo(aside, d, name, err)
	}
	return after(d.unlink(aside), d.sync())
}

// returnTo moves something back to where it was, and returns why it had to.
func (d *dir) returnTo(aside string, home *dir, name string, why error) error {
	if err := d.renameNew(aside, home, name); err != nil {
		return &KeptError{Path: aside}
	}
	return why
}

// moveTo moves the file under name to a folder, where nothing may lie under its
// new name, if it is still was. It happens in one step, and is compared and taken
// back after it. The errors are those of put.
//
// To another file system there is no such step: the file is written there and
// then deleted here, and carried says so. A crash between the two leaves both.
func (d *dir) moveTo(name string, to *dir, dest string, was state) (carried bool, err error) {
	if err := d.check(name, was); err != nil {
		return false, err
	}
	err = d.renameAway(name, to, dest, was)
	switch {
	case errors.Is(err, unix.EXDEV):
		return true, d.carryTo(name, to, dest, was)
	case err != nil:
		return false, notAsShown(err)
	}
	if err := to.check(dest, was); err != nil {
		return false, to.returnTo(dest, d, name, err)
	}
	return false, after(to.sync(), d.sync())
}

// renameAway gives a file that anybody may touch a name that nothing may have,
// in one step where the system can. Where it cannot, the file is first moved to a
// name that only we know: else a file that took its place could be unlinked.
func (d *dir) renameAway(name string, to *dir, dest string, was state) error {
	if !d.portable {
		err := retry(func() error { return renameNoReplace(d.fd(), name, to.fd(), dest) })
		if !unsupported(err) {
			return err
		}
	}
	aside, err := d.moveToTemp(name, to)
	if err != nil {
		return err
	}
	if err := to.check(aside, was); err != nil {
		return to.returnTo(aside, d, name, err)
	}
	if err := to.linkNew(aside, to, dest); err != nil {
		return to.returnTo(aside, d, name, err)
	}
	return nil
}

// carryTo moves a file to another file system.
func (d *dir) carryTo(name string, to *dir, dest string, was state) error {
	if err := to.put(dest, state{}, was); !happened(err) {
		return err
	}
	if err := d.drop(name, was); !happened(err) {
		return errors.Join(err, to.drop(dest, was))
	}
	return nil
}

// tempPrefix begins the names of what must wait beside a file.
const tempPrefix = ".assent-"

// tempName returns a new name for what must wait beside a file. It tells which
// contents nobody misses: the new one, which is not in place yet, and the one
// that a person has agreed to replace or delete.
func tempName(known ...state) string {
	name := tempPrefix + strings.ToLower(rand.Text()[:16])
	for _, s := range known {
		if s.exists {
			name += "-" + mark(s.digest())
		}
	}
	return name
}

// mark is a digest, short enough for a name.
func mark(d policy.Digest) string { return hex.EncodeToString(d[:10]) }

// staleAfter is how long something has lain aside if whoever put it there ended
// before it was done.
const staleAfter = time.Hour

// maxSwept is how many names of a folder are looked at.
const maxSwept = 20_000

// sweep removes what a process that was killed left aside in the folder. What
// nobody was shown stays, whatever its age: it is somebody's.
func (d *dir) sweep(now time.Time) {
	again, err := d.sub(".") // a position of its own
	if err != nil {
		return
	}
	defer again.close()
	names, _ := again.f.Readdirnames(maxSwept)
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) && d.stale(name, now) {
			_ = d.unlink(name) // else somebody sweeps later
		}
	}
}

// stale reports whether a file that lies aside is old, and its content one
// that its name says nobody misses.
func (d *dir) stale(name string, now time.Time) bool {
	f, st, err := d.open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	sec, nsec := st.Ctim.Unix()
	if now.Sub(time.Unix(sec, nsec)) < staleAfter || beingWritten(f) {
		return false
	}
	h := newStateHash()
	if _, err := io.Copy(h, f); err != nil {
		return false
	}
	_, marks, _ := strings.Cut(strings.TrimPrefix(name, tempPrefix), "-")
	own := mark(policy.Digest(h.Sum(nil)))
	for m := range strings.SplitSeq(marks, "-") {
		if m == own {
			return true
		}
	}
	return false
}
