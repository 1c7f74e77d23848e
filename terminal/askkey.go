package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// AskKey asks a question that one key answers, for commands that have a person at the terminal
// and nothing to draw: it returns which of keys was pressed. The end of input, Esc and a Ctrl-C are
// 0. Keys count once it was quiet for [DefaultQuiet] after the question stood there, and then it names
// them: what is typed before, or by a key that is held down, answers nothing. Another key, and keys that
// arrive together, such as y and Enter, answer nothing either: it asks again, a few times; then it is 0.
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
		fmt.Fprint(out, question)
		if over, err := untilQuiet(in); over || err != nil {
			fmt.Fprint(out, "\r\n")
			return 0, err
		}
		fmt.Fprintf(out, " [%s] ", strings.Join(strings.Split(keys, ""), "/"))
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

// untilQuiet forgets what is typed until nothing was for a while. It is over with a Ctrl-C, a Ctrl-D or
// the end of input.
func untilQuiet(in *os.File) (over bool, err error) {
	buffer := make([]byte, 64)
	for {
		if some, err := typedWithin(in, DefaultQuiet); err != nil || !some {
			return false, err
		}
		n, err := in.Read(buffer)
		if err == io.EOF || err == nil && bytes.ContainsAny(buffer[:n], "\x03\x04") {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// typedWithin reports whether there is something to read within a time.
func typedWithin(in *os.File, wait time.Duration) (bool, error) {
	for end := time.Now().Add(wait); ; {
		var set unix.FdSet
		set.Zero()
		set.Set(int(in.Fd()))
		left := unix.NsecToTimeval(max(0, time.Until(end)).Nanoseconds())
		n, err := unix.Select(int(in.Fd())+1, &set, nil, nil, &left) // poll knows no terminals on macOS
		if err != unix.EINTR {
			return n > 0, err
		}
	}
}

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
