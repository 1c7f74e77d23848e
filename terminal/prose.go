package terminal

import (
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"github.com/assent-dev/assent/present"
)

// Columns returns how wide the terminal of a file is; 0 if it is none.
func Columns(f *os.File) int {
	if !IsTerminal(f) {
		return 0
	}
	columns, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return columns
}

// Prose returns text that is safe to print, in lines of at most so many columns that break
// behind words; 0 is without end. Lines but the first begin with the indent.
func Prose(s string, columns int, indent string) string {
	if columns <= 0 {
		columns = 1 << 30
	}
	var lines []string
	for raw := range strings.SplitSeq(present.Safe(s), "\n") {
		l := text(raw)
		if len(lines) > 0 {
			l = text(indent + raw)
		}
		for _, row := range wrap(l, max(columns, minWidth), text(indent)) {
			lines = append(lines, strings.TrimRight(row.String(), " "))
		}
	}
	return strings.Join(lines, "\n")
}
