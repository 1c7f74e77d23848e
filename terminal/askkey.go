package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// AskKey asks a question that one key answers, for commands that have a person at the terminal
// and nothing to draw: it returns which of keys was pressed. The end of input, Esc and a Ctrl-C are
// 0. Another key, and keys that arrive together, such as y and Enter, answer nothing: it asks again
// and says which keys there are, a few times; then it is 0. Keys that were typed before the
// question stood there do not count.
func AskKey(in *os.File, out io.Writer, question, keys string) (rune, error) {
	before, err := term.MakeRaw(in.Fd())
	if err != nil {
		return 0, fmt.Errorf("cannot read keys from the terminal: %w", err)
	}
	defer term.Restore(in.Fd(), before)
	buffer := make([]byte, 64) // an escape sequence comes as one
	for range maxAsked {
		if err := flushInput(in); err != nil {
			return 0, fmt.Errorf("cannot discard what was typed before: %w", err)
		}
		fmt.Fprintf(out, "%s [%s] ", question, strings.Join(strings.Split(keys, ""), "/"))
		n, err := in.Read(buffer)
		if err != nil && err != io.EOF {
			return 0, err
		}
		key := string(buffer[:n])
		switch {
		case len(key) == 1 && strings.Contains(keys, key):
			fmt.Fprintf(out, "%s\r\n", key)
			return rune(key[0]), nil
		case key == "" || strings.ContainsAny(key, "\x03\x04\x1b"):
			fmt.Fprint(out, "\r\n")
			return 0, nil
		}
		fmt.Fprintf(out, "\r\nPress one key: %s.\r\n", strings.Join(strings.Split(keys, ""), " or "))
	}
	return 0, nil
}

// maxAsked is how often a question is asked that gets no answer.
const maxAsked = 5

// Person returns the terminal at which a person can be asked, or nil: standard input, or,
// where that is a pipe or a file, the terminal that the program was started at. Nobody sees a
// question if standard error is elsewhere, nor can anybody answer a program in the background.
func Person() *os.File { return person() }

var person = sync.OnceValue(func() *os.File {
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
