package analysis

import (
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// A declarer is what declare, export, local, readonly and typeset are told by their
// options.
type declarer struct {
	exports   bool
	fixes     bool // read-only
	shape     shape
	keyed     bool // -A
	functions bool
	prints    bool
	retracts  bool // -n takes an export back
	plain     bool // it assigns in the shell's own scope, and does nothing else to the value
}

func newDeclarer(variant string) declarer {
	return declarer{
		exports:  variant == "export",
		retracts: variant == "export",
		fixes:    variant == "readonly",
		plain:    variant != "local",
	}
}

// option reads one word of options. It reports false for what it does not know.
func (d *declarer) option(text string) bool {
	sets := text[0] == '-'
	for _, c := range text[1:] {
		switch c {
		case 'x':
			d.exports, d.plain = d.exports || sets, d.plain && sets
			continue
		case 'r':
			d.fixes, d.plain = true, d.plain && sets
			continue
		case 'a':
			d.shape |= array
		case 'A':
			d.shape |= associative
			d.keyed = sets && d.plain
		case 'l', 'u', 'c':
			d.shape |= folded
		case 'i':
			d.shape |= integer
		case 'n':
			if !d.retracts {
				d.shape |= reference
			}
		case 'f', 'F':
			d.functions = true
		case 'p', 'I':
			d.prints, d.keyed = true, false
		case 'g', 't':
		default:
			return false
		}
		d.plain = false
	}
	return true
}

// declaration walks a declare command that the parser knows. All of its words are expanded
// before the first variable is assigned.
func (w *walker) declaration(cmd *syntax.DeclClause, s *state) {
	w.step()
	d := newDeclarer(cmd.Variant.Value)
	part := w.add(Part{Kind: Runs, Builtin: true, Line: w.line(cmd), Source: w.source(cmd), Dir: s.folders.only(),
		Reading: harmlessReading(cmd.Variant.Value)})
	words := literals([]string{cmd.Variant.Value})
	var declares []func()
	for _, a := range cmd.Args {
		word, declare := w.declared(a, &d, part, s)
		words = append(words, word)
		declares = append(declares, declare)
	}
	w.parts[part-1].Words = words
	for _, declare := range declares {
		declare()
	}
	w.showDeclared(words, d)
}

// declared walks one argument. It returns it as a word, and what declares it.
func (w *walker) declared(a *syntax.Assign, d *declarer, part int, s *state) (programs.Word, func()) {
	if a.Name == nil { // an option, or a word that is only known when it runs
		word := w.single(a.Value, s)
		if isOption(word) {
			w.declareWord(word, d, part, s)
			return word, func() {}
		}
		return word, func() { w.declareWord(word, d, part, s) }
	}
	name := a.Name.Value
	switch {
	case d.functions:
		return programs.Literal(name), func() { w.exportFunction(d, part) }
	case a.Naked:
		if a.Index != nil {
			w.subscript(a.Index, false, s, a)
		}
		return programs.Literal(name), func() { w.declareName(name, d, part, s) }
	}
	v := w.assignedValue(a, d.keyed && a.Index == nil, s)
	by := assigner{part: part, node: a, plain: !a.Append && a.Index == nil}
	word := programs.Word{Text: w.source(a), Begin: name}
	if v.value.Known && a.Index == nil {
		word = programs.Literal(name + "=" + v.value.Text)
	}
	return word, func() {
		if a.Array == nil {
			w.arrayText(name, v, d, part)
		}
		w.declareValue(name, v, d, by, s)
	}
}

func isOption(word programs.Word) bool {
	return word.Known && len(word.Text) > 1 && (word.Text[0] == '-' || word.Text[0] == '+')
}

// declareWord is an argument that came as a plain word.
func (w *walker) declareWord(word programs.Word, d *declarer, part int, s *state) {
	switch {
	case !word.Known:
		w.unknown(part, nil, "declares what is not known")
		w.forgetAll(s)
	case isOption(word):
		if !d.option(word.Text) {
			w.unknown(part, nil, "an option that is not known: "+word.Text)
		}
	case d.functions:
		w.exportFunction(d, part)
	default:
		name, value, assigned := strings.Cut(word.Text, "=")
		switch {
		case !isName(name):
			w.unknown(part, nil, "declares something whose subscript may be code")
			w.forgetAll(s)
		case assigned:
			v := variable{value: programs.Literal(value)}
			w.arrayText(name, v, d, part)
			w.declareValue(name, v, d, assigner{part: part}, s)
		default:
			w.declareName(name, d, part, s)
		}
	}
}

// arrayText adds an unknown part for a value that stands for an array and is given as text:
// the shell reads it as the text of a command.
func (w *walker) arrayText(name string, v variable, d *declarer, part int) {
	if (w.shapeOf(name)|d.shape)&(array|associative) == 0 || v.countable() ||
		v.value.Known && !strings.HasPrefix(v.value.Text, "(") {
		return
	}
	w.unknown(part, nil, "the value of "+name+", an array, is text that the shell reads as code")
}

// declareValue is NAME=VALUE with attributes.
func (w *walker) declareValue(name string, v variable, d *declarer, by assigner, s *state) {
	w.attributes(name, d, by.part, s)
	v.exported = d.exports || w.exports
	by.plain = by.plain && d.plain
	w.assign(name, v, by, s)
	w.fix(name, d)
}

// declareName is NAME alone with attributes.
func (w *walker) declareName(name string, d *declarer, part int, s *state) {
	w.attributes(name, d, part, s)
	f := w.facts.of(name)
	v, assigned := w.lookup(name, s)
	switch {
	case d.prints && !d.exports && !d.fixes:
		return
	case !d.plain && d.shape == 0 || d.shape&changing != 0 || !s.straight: // such as local: a new one
		w.facts.about(f, &f.loose)
	case assigned && d.exports:
		v.exported = true
		s.keep(name, v)
	}
	w.fix(name, d)
	if d.exports && !d.prints {
		w.setBy(name, part)
	}
}

// attributes notes what the variable is declared to be.
func (w *walker) attributes(name string, d *declarer, part int, s *state) {
	f := w.facts.of(name)
	w.declareShape(name, d.shape)
	f.exports = f.exports || d.exports
	if d.shape&reference != 0 {
		w.unknown(part, nil, name+" stands for another variable")
	}
	if !s.straight || !d.plain && !d.keyed {
		w.facts.about(f, &f.unset)
	}
	if d.keyed && !d.prints && s.straight && !w.risky {
		if s.keyed == nil {
			s.keyed = make(map[string]bool)
		}
		s.keyed[name] = true
	}
}

// fix notes that a variable is read-only. It does not hold what it is given elsewhere.
func (w *walker) fix(name string, d *declarer) {
	if f := w.facts.of(name); d.fixes {
		f.fixed = true
		if f.loose {
			w.mayFail()
		}
	}
}

// exportFunction is export -f: programs that are shells find the function in their
// environment.
func (w *walker) exportFunction(d *declarer, part int) {
	if d.exports {
		w.setBy("BASH_FUNC", part)
		w.unknown(part, nil, "a function is exported: shells that are started run it instead of programs")
	}
}
