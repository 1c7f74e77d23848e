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
			w.divides(x)
			w.arithmeticAssigned(x.X, s)
			return
		}
		w.arithmetic(x.X, s, whole)
		w.arithmetic(x.Y, s, whole)
		w.divides(x)
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

// letExpression walks an argument of let. Bash ends the command at an operator that is also
// one of the shell's own.
func (w *walker) letExpression(x syntax.ArithmExpr, s *state, whole syntax.Node) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if b, ok := n.(*syntax.BinaryArithm); ok && strings.ContainsAny(b.Op.String(), "|&<>") {
			w.unknown(0, whole, "let with "+b.Op.String()+", which bash reads as the end of the command; write (( … ))")
			return false
		}
		_, word := n.(*syntax.Word)
		return !word
	})
	w.arithmetic(x, s, whole)
}

// divides notes that an operation fails for some numbers, unless the right one is written there.
func (w *walker) divides(x *syntax.BinaryArithm) {
	switch x.Op {
	case syntax.Quo, syntax.Rem, syntax.Pow, syntax.QuoAssgn, syntax.RemAssgn, syntax.PowAssgn:
		if word, ok := x.Y.(*syntax.Word); !ok || !digits(word.Lit()) || strings.Trim(word.Lit(), "0") == "" {
			w.mayFail()
		}
	}
}

// arithmeticWord checks an operand: a number, or a variable that holds one.
func (w *walker) arithmeticWord(word *syntax.Word, s *state, whole syntax.Node) {
	if lit := word.Lit(); lit != "" {
		switch {
		case w.constant(lit):
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
		if !p.isList && (p.known && (p.text == "" || w.constant(p.text)) || !p.known && p.numeric) {
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

// constant reports whether text is a number as arithmetic knows them: 12, 0x1f, 2#101. Those
// of another base than ten may be none, as 08.
func (w *walker) constant(text string) bool {
	if text == "" || text[0] < '0' || text[0] > '9' || strings.Trim(text, "0123456789abcdefxABCDEFX#") != "" {
		return false
	}
	if !digits(text) || text[0] == '0' && text != "0" {
		w.mayFail()
	}
	return true
}

// holdsNumber reports whether a variable holds a number, or is not set at all.
func (w *walker) holdsNumber(name string, s *state) bool {
	switch name {
	case "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "EPOCHSECONDS", "SRANDOM":
		return true
	}
	v, ok := w.lookup(name, s)
	if !ok {
		return w.startsAsNumber(name) // not set is zero
	}
	return v.numeric || isNumber(v.value) && (!v.value.Known || w.constant(v.value.Text))
}

// arithmeticAssign checks what is assigned to: a subscript is evaluated.
func (w *walker) arithmeticAssign(x syntax.ArithmExpr, s *state, whole syntax.Node) {
	word, ok := x.(*syntax.Word)
	if ok && isName(word.Lit()) {
		return
	}
	if !ok || !w.arithmeticIndex(word, s, whole) {
		w.unknown(0, whole, "an assignment in arithmetic to something that is not a name")
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
