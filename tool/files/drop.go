package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// drop removes the file under name, if it is still was. It is first moved aside
// and compared; if it is something else it is put back, or kept beside if its
// name is taken. The errors are those of put.
func (d *dir) drop(name string, was state) error {
	if err := d.check(name, was); err != nil {
		return err
	}
	aside, err := d.setAside(name, d, was)
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
		return &KeptError{Aside: aside}
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
	aside, err := d.setAside(name, to)
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
