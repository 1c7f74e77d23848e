package analysis

import (
	"github.com/assent-dev/assent/tool/shell/programs"
)

// testBuiltin is test and [: the files that it looks at are read.
func testBuiltin(w *walker, c *command) outcome {
	w.harmless(c)
	args := c.words[1:]
	if n := len(args); c.name() == "[" && n > 0 && args[n-1].Text == "]" {
		args = args[:n-1]
	}
	for i, word := range args {
		switch {
		case !word.Known && word.Many && !word.Number && !word.Glob, len(args) == 2 && i == 0 && !word.Known:
			w.opaque(c, "a test whose operator is not known may run code")
			return stays(c.state.folders)
		case !word.Known || i+1 == len(args):
		case word.Text == "-v" || word.Text == "-R":
			if next := args[i+1]; !next.Known || !isName(next.Text) {
				w.opaque(c, "a test of a variable whose subscript may be code")
			}
		case word.Text == "-nt" || word.Text == "-ot" || word.Text == "-ef":
			if i > 0 {
				w.tested(c, args[i-1])
			}
			w.tested(c, args[i+1])
		case isFileTest(word.Text) && (i == 0 || args[i-1].Known && isConnective(args[i-1].Text)):
			w.tested(c, args[i+1])
		}
	}
	return stays(c.state.folders)
}

// tested adds the part for a file that a test looks at.
func (w *walker) tested(c *command, word programs.Word) {
	p := w.parts[c.part-1]
	w.touch(Part{Kind: Touches, Cause: c.part, Access: programs.Read, Line: p.Line, Source: p.Source}, word, c.state, false)
}

func isFileTest(text string) bool {
	if len(text) != 2 || text[0] != '-' {
		return false
	}
	switch text[1] {
	case 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'k', 'p', 'r', 's', 'u', 'w', 'x', 'G', 'L', 'N', 'O', 'S':
		return true
	}
	return false
}

func isConnective(text string) bool {
	switch text {
	case "!", "(", "-a", "-o":
		return true
	}
	return false
}
