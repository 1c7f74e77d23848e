package config

import (
	"bytes"
	"fmt"
)

// What nobody writes by hand, and what parsing would take too long or too much stack for.
const (
	maxYAML   = 128 << 10
	maxNested = 100
)

// oversized says why a text is not even parsed: a file may come from anybody.
func oversized(data []byte) (line int, why string) {
	if len(data) > maxYAML {
		return 1, fmt.Sprintf("there are more than %d bytes of YAML", maxYAML)
	}
	open, number := 0, 0
	for l := range bytes.Lines(data) {
		number++
		open += bytes.Count(l, []byte("[")) + bytes.Count(l, []byte("{"))
		if open > maxNested || nestedLine(l) > maxNested {
			return number, "it is nested too deeply"
		}
		open = max(0, open-bytes.Count(l, []byte("]"))-bytes.Count(l, []byte("}")))
	}
	return 0, ""
}

// nestedLine counts the levels that a line can open at its start: by two columns of indent,
// or by one item or key in the other.
func nestedLine(line []byte) int {
	rest := bytes.TrimLeft(line, " \t-?")
	return (len(line) - len(rest)) / 2
}
