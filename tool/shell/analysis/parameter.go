package analysis

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// isPlain reports whether an expansion is $name or ${name}.
func isPlain(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil &&
		p.Repl == nil && p.Names == 0 && p.Exp == nil && p.NestedParam == nil && p.Flags == nil
}

// parameter expands ${…}, and walks what runs inside it.
func (w *walker) parameter(p *syntax.ParamExp, quoted bool, s *state) piece {
	unknown := piece{quoted: quoted, split: !quoted}
	if isPlain(p) {
		return w.plainParameter(p.Param.Value, quoted, s)
	}
	if list, ok := w.elements(p, quoted, s); ok {
		return list
	}
	value := w.operand(p, quoted, s)
	switch {
	case p.Param == nil:
		w.unknown(0, p, "an expansion that is not known")
	case p.Length:
		unknown.number, unknown.numeric = true, true
	case p.Excl && p.Names == 0:
		w.unknown(0, p, "an indirect expansion")
	case p.Exp != nil:
		return w.choice(p, value, quoted, s)
	}
	if p.Param != nil && isList(p.Param.Value, p.Index) {
		unknown.split = true // several words even in quotes
	}
	return unknown
}

// plainParameter expands $name.
func (w *walker) plainParameter(name string, quoted bool, s *state) piece {
	unknown := piece{quoted: quoted, split: !quoted}
	switch name {
	case "@", "*":
		if name == "*" && quoted {
			return unknown
		}
		if !w.paramsKnown(s) || !quoted {
			return piece{split: true} // its words are split again
		}
		return piece{isList: true, known: true, list: s.params}
	case "#", "?", "$", "!":
		unknown.number, unknown.numeric = true, true
		return unknown
	case "-", "0":
		return unknown
	}
	if n, err := strconv.Atoi(name); err == nil {
		if w.paramsKnown(s) && n >= 1 && n <= len(s.params) {
			return pieceOf(s.params[n-1], quoted)
		}
		return unknown
	}
	p := pieceOf(w.value(name, s), quoted)
	p.numeric = w.holdsNumber(name, s)
	if v, ok := w.lookup(name, s); ok && v.numeric && !p.known && w.splits(s) {
		p.split = false // nothing in a number to split at
	}
	return p
}

// paramsKnown reports whether the positional parameters are those that the function or the
// script was given.
func (w *walker) paramsKnown(s *state) bool {
	return s.paramsKnown && !w.facts.shifts && !w.facts.wild
}

func pieceOf(value programs.Word, quoted bool) piece {
	return piece{text: value.Text, known: value.Known, quoted: quoted, split: !quoted, number: value.Number,
		numeric: isNumber(value)}
}

// elements expands "${a[@]}" and ${a[0]} of an array that is known.
func (w *walker) elements(p *syntax.ParamExp, quoted bool, s *state) (piece, bool) {
	index, ok := p.Index.(*syntax.Word)
	if !ok || p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 {
		return piece{}, false
	}
	v, ok := w.lookup(p.Param.Value, s)
	if !ok || !v.isList {
		return piece{}, false
	}
	at := index.Lit()
	if at == "@" && quoted {
		return piece{isList: true, known: true, list: v.list}, true
	}
	n, err := strconv.Atoi(at)
	if err != nil || n < 0 || n >= len(v.list) {
		return piece{}, false
	}
	return pieceOf(v.list[n], quoted), true
}

// isList reports whether an expansion makes several words even in quotes.
func isList(name string, index syntax.ArithmExpr) bool {
	if name == "@" {
		return true
	}
	word, ok := index.(*syntax.Word)
	return ok && word.Lit() == "@"
}

// operand walks everything that is expanded inside ${…}.
func (w *walker) operand(p *syntax.ParamExp, quoted bool, s *state) (value programs.Word) {
	if p.Index != nil && !wholeArray(p.Index) {
		w.subscript(p.Index, p.Param != nil && w.isKeyed(p.Param.Value, s), s, p)
	}
	if p.Slice != nil || p.Excl || p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		w.mayFail()
	}
	if p.Slice != nil {
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if x != nil {
				w.arithmetic(x, s, p)
			}
		}
	}
	if p.Repl != nil {
		w.pattern(p.Repl.Orig, s)
		if quoted && p.Repl.With != nil {
			w.doubleQuoted(p.Repl.With.Parts, s) // as in some versions of bash
		} else {
			w.pattern(p.Repl.With, s)
		}
	}
	if p.NestedParam != nil {
		w.part(nil, p.NestedParam, true, s)
	}
	if p.Exp == nil || p.Exp.Word == nil {
		return programs.Word{}
	}
	if p.Exp.Op == syntax.OtherParamOps {
		if p.Exp.Word.Lit() == "P" {
			w.unknown(0, p, "an expansion that runs what a variable holds")
		}
		return programs.Word{}
	}
	if quoted && replaces(p.Exp.Op) {
		return w.joined(w.doubleQuoted(p.Exp.Word.Parts, s), w.source(p.Exp.Word))
	}
	return w.single(p.Exp.Word, s)
}

// replaces reports whether the word of an expansion stands in for the value: the others are
// patterns, in which single quotes always quote.
func replaces(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	}
	return false
}

// choice expands ${name:-word} and its like, where the variable is known.
func (w *walker) choice(p *syntax.ParamExp, word programs.Word, quoted bool, s *state) piece {
	unknown := piece{quoted: quoted, split: !quoted}
	name := p.Param.Value
	var current programs.Word
	if p.Index == nil && (isName(name)) {
		current = w.value(name, s)
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		w.assign(name, variable{value: word}, assigner{node: p}, s)
		return unknown
	case syntax.DefaultUnset, syntax.ErrorUnset:
	case syntax.DefaultUnsetOrNull, syntax.ErrorUnsetOrNull:
		if current.Known && current.Text == "" {
			return unknown
		}
	default:
		return unknown
	}
	if current.Known {
		return pieceOf(current, quoted)
	}
	return unknown
}

// wholeArray reports whether a subscript is @ or *.
func wholeArray(index syntax.ArithmExpr) bool {
	word, ok := index.(*syntax.Word)
	return ok && (word.Lit() == "@" || word.Lit() == "*")
}

// pattern walks what runs inside a pattern.
func (w *walker) pattern(word *syntax.Word, s *state) {
	if word != nil {
		w.pieces(word.Parts, s)
	}
}

// show notes a variable whose value may be printed; an empty name stands for all.
func (w *walker) show(name string) {
	if !slices.Contains(w.shown, name) {
		w.shown = append(w.shown, name)
	}
}

// showDeclared notes what declare, export and their kind print: everything without a name,
// and with -p the variables that they name.
func (w *walker) showDeclared(words []programs.Word, d declarer) {
	if d.functions {
		return
	}
	names := 0
	for _, word := range words[1:] {
		if strings.HasPrefix(word.Text, "-") || strings.HasPrefix(word.Text, "+") {
			continue
		}
		names++
		if d.prints {
			name, _, _ := strings.Cut(word.Text, "=")
			w.show(name)
		}
	}
	if names == 0 {
		w.show("")
	}
}

// expansions notes the variables that a text expands, wherever their values may end up. Those
// that it sets before, in a statement of its own that nothing can skip, have no value of
// somebody else's; a test shows nothing of what it compares.
func (w *walker) expansions(file *syntax.File) {
	set := make(map[string]bool)
	for _, stmt := range file.Stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.TestClause:
				return false
			case *syntax.CallExpr:
				return len(n.Args) == 0 || !isTest(n.Args[0].Lit())
			case *syntax.ParamExp:
				if n.Param != nil && !set[n.Param.Value] && !n.Length && !isAlternative(n) && isName(n.Param.Value) {
					w.show(n.Param.Value)
				}
			}
			return true
		})
		if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) == 0 && !stmt.Background && !stmt.Negated &&
			len(stmt.Redirs) == 0 {
			for _, a := range call.Assigns {
				if a.Name != nil && !a.Append && a.Index == nil {
					set[a.Name.Value] = true
				}
			}
		}
	}
}

// isTest reports whether a command looks at its words and prints none of them.
func isTest(name string) bool { return name == "test" || name == "[" || name == ":" }

// isAlternative reports whether an expansion is ${name:+word}, which shows whether there is a
// value and not which.
func isAlternative(p *syntax.ParamExp) bool {
	return p.Exp != nil && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull)
}
