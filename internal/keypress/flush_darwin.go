package keypress

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush forgets what was typed and not read; 1 is FREAD.
func flush(in *os.File) error { return unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCFLUSH, 1) }
