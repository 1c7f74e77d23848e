package analysis

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// condition walks [[ … ]]: files that it looks at are read, and numbers that it compares
// are evaluated as arithmetic.
func (w *walker) condition(x syntax.TestExpr, s *state, whole syntax.Node) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		w.binaryTest(x, s, whole)
	case *syntax.UnaryTest:
		w.unaryTest(x, s, whole)
	case *syntax.ParenTest:
		w.condition(x.X, s, whole)
	case *syntax.Word:
		w.single(x, s)
	case nil:
	default:
		w.unknown(0, whole, "a test that is not known")
	}
}

func (w *walker) binaryTest(x *syntax.BinaryTest, s *state, whole syntax.Node) {
	left, isWord := x.X.(*syntax.Word)
	right, _ := x.Y.(*syntax.Word)
	if !isWord || right == nil {
		w.condition(x.X, s, whole)
		w.condition(x.Y, s, whole)
		return
	}
	switch x.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		w.compared(left, s, whole)
		w.compared(right, s, whole)
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		w.looked(left, s, whole)
		w.looked(right, s, whole)
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch:
		w.single(left, s)
		w.pattern(right, s)
		if lit, ok := right.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "#") {
			w.unknown(0, whole, "bash takes the # for a comment, the parser for a pattern")
		}
	default:
		w.single(left, s)
		w.single(right, s)
	}
}

// compared is an operand of -eq and its like.
func (w *walker) compared(word *syntax.Word, s *state, whole syntax.Node) {
	if lit := word.Lit(); len(lit) > 1 && lit[0] == '-' && digits(lit[1:]) {
		return
	}
	w.arithmeticWord(word, s, whole)
}

// looked is an operand that names a file.
func (w *walker) looked(word *syntax.Word, s *state, whole syntax.Node) {
	p := Part{Kind: Touches, Access: programs.Read, Line: w.line(whole), Source: w.source(whole)}
	w.touch(p, w.single(word, s), s, false)
}

func (w *walker) unaryTest(x *syntax.UnaryTest, s *state, whole syntax.Node) {
	word, ok := x.X.(*syntax.Word)
	if !ok {
		w.condition(x.X, s, whole)
		return
	}
	switch x.Op {
	case syntax.TsVarSet, syntax.TsRefVar:
		if name := w.single(word, s); !name.Known || !isName(name.Text) {
			w.unknown(0, whole, "a test of a variable whose subscript may be code")
		}
	case syntax.TsEmpStr, syntax.TsNempStr, syntax.TsNot, syntax.TsOptSet:
		w.single(word, s)
	case syntax.TsFdTerm:
		w.compared(word, s, whole)
	default:
		w.looked(word, s, whole)
	}
}

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
	w.touch(Part{Kind: Touches, Cause: c.part, Access: programs.Read, Line: p.Line, Source: p.Source}, word,
		c.state, false)
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
