package analysis

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// misread notes what bash runs and the parser takes for plain text: a process substitution
// inside ${…} or in a regular expression, or an expansion whose dollar sign ends a line.
func (w *walker) misread(file *syntax.File) {
	if strings.Contains(w.at.text, "$\\\n") {
		w.unknown(0, nil, "a dollar sign before a line that goes on: bash may read an expansion there")
	}
	if !hasProcess(w.at.text) {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			if hasProcess(w.source(n)) {
				w.unknown(0, n, "a process substitution inside ${…}, which is not read")
				return false
			}
		case *syntax.BinaryTest:
			if n.Op == syntax.TsReMatch && hasProcess(w.source(n.Y)) {
				w.unknown(0, n, "a process substitution in a regular expression, which is not read")
				return false
			}
		}
		return true
	})
}

// hasProcess reports whether a process substitution may begin somewhere in the text, also
// across a line that goes on.
func hasProcess(text string) bool {
	for i := range len(text) {
		if text[i] != '<' && text[i] != '>' {
			continue
		}
		rest := text[i+1:]
		for strings.HasPrefix(rest, "\\\n") {
			rest = rest[2:]
		}
		if strings.HasPrefix(rest, "(") {
			return true
		}
	}
	return false
}
