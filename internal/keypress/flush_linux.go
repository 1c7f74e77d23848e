package keypress

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush forgets what was typed and not read.
func flush(in *os.File) error { return unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
