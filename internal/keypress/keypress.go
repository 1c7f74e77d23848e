// Package keypress asks a question that one key answers, for commands that have a person
// at the terminal and nothing to draw.
package keypress

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
)

// Ask prints the question and returns the key of keys that was pressed. Every other key,
// the end of input and a Ctrl-C are 0. Keys that were typed before the question stood there
// do not count.
func Ask(in *os.File, out io.Writer, question, keys string) (rune, error) {
	before, err := term.MakeRaw(in.Fd())
	if err != nil {
		return 0, fmt.Errorf("the terminal cannot be asked: %w", err)
	}
	defer term.Restore(in.Fd(), before)
	if err := flush(in); err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "%s [%s] ", question, strings.Join(strings.Split(keys, ""), "/"))
	buffer := make([]byte, 64) // an escape sequence comes as one
	n, err := in.Read(buffer)
	if err != nil && err != io.EOF {
		return 0, err
	}
	key := string(buffer[:n])
	if len(key) != 1 || !strings.Contains(keys, key) {
		fmt.Fprint(out, "\r\n")
		return 0, nil
	}
	fmt.Fprintf(out, "%s\r\n", key)
	return rune(key[0]), nil
}

// IsTerminal reports whether a person may be there.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(f.Fd()) }
