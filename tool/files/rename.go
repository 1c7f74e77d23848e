package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// moveToTemp moves what lies under name, whatever it is, to a new name in another
// folder or the same. If it turns out to be known, nobody misses it.
func (d *dir) moveToTemp(name string, to *dir, known ...state) (aside string, err error) {
	aside = tempName(known...)
	err = retry(func() error { return unix.Renameat(d.fd(), name, to.fd(), aside) })
	return aside, err
}

// renameNew gives a file that lies aside a name that nothing may have.
func (d *dir) renameNew(from string, to *dir, name string) error {
	if !d.portable {
		err := retry(func() error { return renameNoReplace(d.fd(), from, to.fd(), name) })
		if !unsupported(err) {
			return err
		}
	}
	return d.linkNew(from, to, name)
}

// exchange swaps what lies under two names of the folder, in one step.
func (d *dir) exchange(a, b string) error {
	if !d.portable {
		err := retry(func() error { return renameExchange(d.fd(), a, b) })
		if !unsupported(err) {
			return err
		}
	}
	return d.swap(a, b)
}

// unsupported reports whether the kernel or the file system does not know the
// operation.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}

// linkNew is renameNew in two steps, for file systems that have no better: for a
// moment the file has both names. It replaces nothing. The old name is one that
// only we know, so what is unlinked is what was linked.
func (d *dir) linkNew(from string, to *dir, name string) error {
	err := retry(func() error { return unix.Linkat(d.fd(), from, to.fd(), name, 0) })
	if err != nil {
		return err
	}
	return d.unlink(from)
}

// swap is exchange in several steps, for file systems that have no better: for a
// moment nothing lies under b. Like an exchange it loses nothing: what lay under
// b ends under a, or goes back. The name a is one that only we know.
func (d *dir) swap(a, b string) error {
	out, err := d.moveToTemp(b, d)
	if err != nil {
		return err
	}
	if err := d.linkNew(a, d, b); err != nil {
		if d.linkNew(out, d, b) != nil {
			return &KeptError{Path: out}
		}
		return err
	}
	return d.linkNew(out, d, a)
}
