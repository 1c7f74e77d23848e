package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput forgets what was typed at a terminal and not read yet. Elsewhere it
// fails.
func flushInput(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
}
