package config

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// What nobody writes by hand, and what parsing would take too long or too much stack for.
const (
	maxYAML   = 128 << 10
	maxNested = 100
)

// unfit says why a text is not even parsed: a file may come from anybody.
func unfit(data []byte) (line int, why string) {
	if len(data) > maxYAML {
		return 1, fmt.Sprintf("there are more than %d bytes of YAML", maxYAML)
	}
	depth, number := 0, 0
	for l := range bytes.Lines(data) {
		number++
		if !utf8.Valid(l) {
			return number, "it is no UTF-8"
		}
		deepest := nestedLine(l)
		for _, c := range l {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			deepest = max(deepest, depth)
		}
		if deepest > maxNested {
			return number, "it is nested too deeply"
		}
	}
	return 0, ""
}

// nestedLine counts the levels that a line can open at its start: by two columns of indent,
// or by one item or key in the other.
func nestedLine(line []byte) int {
	rest := bytes.TrimLeft(line, " \t-?")
	return (len(line) - len(rest)) / 2
}
