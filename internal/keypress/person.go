package keypress

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Person returns the terminal at which a person can be asked, or nil: standard input, or,
// where that is a pipe or a file, the terminal that the program was started at. Nobody sees a
// question if standard error is elsewhere, nor can anybody answer a program in the background.
var Person = sync.OnceValue(func() *os.File {
	switch {
	case !IsTerminal(os.Stderr):
		return nil
	case IsTerminal(os.Stdin):
		return os.Stdin
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	front, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	if err != nil || front != unix.Getpgrp() {
		tty.Close()
		return nil
	}
	return tty
})
