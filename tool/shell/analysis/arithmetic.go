package analysis

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arithmetic walks an arithmetic expression. Bash evaluates what a variable holds as an
// expression again, and a subscript in it runs commands: so everything but numbers is
// code that cannot be read.
func (w *walker) arithmetic(x syntax.ArithmExpr, s *state, whole syntax.Node) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if isAssignment(x.Op) {
			w.arithmeticAssign(x.X, s, whole)
			if x.Op != syntax.Assgn {
				w.arithmetic(x.X, s, whole)
			}
			w.arithmetic(x.Y, s, whole)
			w.arithmeticAssigned(x.X, s)
			return
		}
		w.arithmetic(x.X, s, whole)
		w.arithmetic(x.Y, s, whole)
	case *syntax.UnaryArithm:
		w.arithmetic(x.X, s, whole)
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			w.arithmeticAssigned(x.X, s)
		}
	case *syntax.ParenArithm:
		w.arithmetic(x.X, s, whole)
	case *syntax.Word:
		w.arithmeticWord(x, s, whole)
	case nil:
	default:
		w.unknown(0, whole, "arithmetic that is not known")
	}
}

func isAssignment(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn,
		syntax.AndBoolAssgn, syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.PowAssgn:
		return true
	}
	return false
}

// arithmeticWord checks an operand: a number, or a variable that holds one.
func (w *walker) arithmeticWord(word *syntax.Word, s *state, whole syntax.Node) {
	if lit := word.Lit(); lit != "" {
		switch {
		case isConstant(lit):
		case isName(lit) && w.holdsNumber(lit, s):
		default:
			w.unknown(0, whole, "arithmetic on "+lit+", whose value may be code")
		}
		return
	}
	if w.arithmeticIndex(word, s, whole) {
		return
	}
	for _, p := range w.doubleQuoted(word.Parts, s) {
		if p.known && (p.text == "" || isConstant(p.text)) || !p.known && p.numeric && !p.isList {
			continue
		}
		w.unknown(0, whole, "arithmetic on a value that may be code")
		return
	}
}

// arithmeticIndex handles a[i] without a dollar sign.
func (w *walker) arithmeticIndex(word *syntax.Word, s *state, whole syntax.Node) bool {
	if len(word.Parts) != 1 {
		return false
	}
	p, ok := word.Parts[0].(*syntax.ParamExp)
	if !ok || p.Dollar.IsValid() {
		return false
	}
	w.arithmetic(p.Index, s, whole)
	w.unknown(0, whole, "arithmetic on an array, whose values may be code")
	return true
}

// isConstant reports whether text is a number as arithmetic knows them: 12, 0x1f, 2#101.
func isConstant(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9' &&
		strings.Trim(text, "0123456789abcdefxABCDEFX#") == ""
}

// holdsNumber reports whether a variable holds a number, or is not set at all.
func (w *walker) holdsNumber(name string, s *state) bool {
	if w.isVolatile(name) {
		return false
	}
	switch name {
	case "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "EPOCHSECONDS", "SRANDOM":
		return true
	}
	v, ok := s.lookup(name)
	if !ok {
		if _, set := w.world.Variable(name); !set && !dynamic(name) && name != "HOME" && name != "IFS" {
			return true // zero
		}
	}
	return v.numeric || isNumber(w.value(name, s))
}

// arithmeticAssign checks what is assigned to: a subscript is evaluated.
func (w *walker) arithmeticAssign(x syntax.ArithmExpr, s *state, whole syntax.Node) {
	word, ok := x.(*syntax.Word)
	if ok && isName(word.Lit()) {
		return
	}
	if !ok || !w.arithmeticIndex(word, s, whole) {
		w.unknown(0, whole, "an assignment in arithmetic to something that is no name")
	}
}

// arithmeticAssigned notes that a variable now holds a number.
func (w *walker) arithmeticAssigned(x syntax.ArithmExpr, s *state) {
	if word, ok := x.(*syntax.Word); ok {
		if name := word.Lit(); isName(name) {
			w.assign(name, variable{numeric: true}, assigner{node: word}, s)
		} else if len(word.Parts) == 1 {
			if p, ok := word.Parts[0].(*syntax.ParamExp); ok && p.Param != nil {
				w.assign(p.Param.Value, variable{numeric: true}, assigner{node: word}, s)
			}
		}
	}
}
