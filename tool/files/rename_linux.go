package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func renameNoReplace(fromDir int, from string, toDir int, to string) error {
	return unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE)
}

func renameExchange(dir int, a, b string) error {
	return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
}

// beingWritten reports whether somebody has the file open for writing: then its
// content may still change after it was compared. A read lease is granted only
// if nobody has; it ends when f is closed. Where leases are not to be had (a
// foreign owner, some network file systems) it is taken as not written.
func beingWritten(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return errors.Is(err, unix.EAGAIN)
}
