package analysis

import (
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
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
