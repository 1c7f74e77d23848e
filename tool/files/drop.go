package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// drop removes the file under name, if it is still was. It is first moved aside
// and compared; if it is something else it is put back, or kept beside if its
// name is taken, and the error wraps [approval.ErrChanged].
func (d *dir) drop(name string, was state) error {
	aside, err := d.setAside(name, d)
	if err != nil {
		return notAsShown(err)
	}
	if !d.holds(aside, was) {
		return d.returnTo(aside, d, name)
	}
	if err := d.unlink(aside); err != nil {
		return err
	}
	return d.sync()
}

// returnTo moves what lies aside back to where it was.
func (d *dir) returnTo(aside string, home *dir, name string) error {
	if err := d.renameNew(aside, home, name); err != nil {
		return &KeptError{Aside: aside}
	}
	return changed("it was changed")
}

// moveTo moves the file under name to a folder, where nothing may lie under its
// new name, if it is still was.
func (d *dir) moveTo(name string, to *dir, dest string, was state) error {
	aside, err := d.setAside(name, to)
	if errors.Is(err, unix.EXDEV) {
		return d.carryTo(name, to, dest, was)
	}
	if err != nil {
		return notAsShown(err)
	}
	if !to.holds(aside, was) {
		return to.returnTo(aside, d, name)
	}
	if err := to.renameNew(aside, to, dest); err != nil {
		return errors.Join(notAsShown(err), stillThere(to.returnTo(aside, d, name)))
	}
	return errors.Join(to.sync(), d.sync())
}

// stillThere keeps of the error of a return only what a person must know.
func stillThere(err error) error {
	if e := (*KeptError)(nil); errors.As(err, &e) {
		return err
	}
	return nil
}

// carryTo moves a file to another file system: it is written there and then
// dropped here.
func (d *dir) carryTo(name string, to *dir, dest string, was state) error {
	if err := to.put(dest, state{}, was); err != nil {
		return err
	}
	if err := d.drop(name, was); err != nil {
		return errors.Join(err, to.drop(dest, was))
	}
	return nil
}
