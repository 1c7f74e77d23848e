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
	fixes     bool // an attribute changes what is assigned
	evaluates bool // values are arithmetic, or names of other variables
	local     bool
	functions bool
	prints    bool
	unsure    bool // what is exported may no longer be
	stray     bool // local outside a function: bash refuses it
}

func (w *walker) declarer(variant string) declarer {
	return declarer{
		exports: variant == "export",
		fixes:   variant == "readonly",
		local:   variant == "local" || variant == "declare" || variant == "typeset",
		stray:   variant == "local" && len(w.scopes) == 0,
	}
}

// option reads one word of options. It reports false for what it does not know.
func (d *declarer) option(text string) bool {
	for _, c := range text[1:] {
		switch c {
		case 'x':
			d.exports, d.unsure = d.exports || text[0] == '-', d.unsure || text[0] != '-'
		case 'r', 'a', 'A':
			d.fixes = d.fixes || c == 'r' || c == 'A'
		case 'l', 'u', 'c', 't':
			d.fixes, d.evaluates = true, d.evaluates || c == 't'
		case 'i', 'n':
			d.evaluates, d.fixes, d.unsure = true, true, true
		case 'g':
			d.local = false
		case 'f', 'F':
			d.functions = true
		case 'p', 'I':
			d.prints = true
		default:
			return false
		}
	}
	return true
}

// declaration walks a declare command that the parser knows.
func (w *walker) declaration(cmd *syntax.DeclClause, s *state) {
	w.step()
	d := w.declarer(cmd.Variant.Value)
	part := w.add(Part{Kind: Runs, Builtin: true, Line: w.line(cmd), Source: w.source(cmd), Dir: s.folders.only(),
		Reading: harmlessReading(cmd.Variant.Value)})
	words := literals([]string{cmd.Variant.Value})
	for _, a := range cmd.Args {
		words = append(words, w.declared(a, &d, part, s))
	}
	w.parts[part-1].Words = words
}

// declared walks one argument, and returns it as a word.
func (w *walker) declared(a *syntax.Assign, d *declarer, part int, s *state) programs.Word {
	written := programs.Word{Text: w.source(a)}
	if a.Name == nil { // an option, or a word that is only known when it runs
		word := w.single(a.Value, s)
		w.declareWord(word, d, part, s)
		return word
	}
	if d.functions {
		w.exportFunction(d, part, s)
		return programs.Literal(a.Name.Value)
	}
	if d.local {
		w.local(a.Name.Value, s)
	}
	if a.Naked {
		if a.Index != nil {
			w.subscript(a.Index, s, a)
		}
		if d.local && len(w.scopes) > 0 {
			w.assign(a.Name.Value, variable{}, s) // a new one
		}
		w.attributes(a.Name.Value, d, part, s)
		return programs.Literal(a.Name.Value)
	}
	v := w.assignedValue(a, s)
	w.declareValue(a.Name.Value, v, d, part, s)
	if v.value.Known && a.Index == nil {
		return programs.Literal(a.Name.Value + "=" + v.value.Text)
	}
	written.Begin = a.Name.Value
	return written
}

// declareWord is an argument that came as a plain word.
func (w *walker) declareWord(word programs.Word, d *declarer, part int, s *state) {
	switch {
	case !word.Known:
		w.unknown(part, nil, "declares what is not known")
		s.forgetAll()
	case len(word.Text) > 1 && (word.Text[0] == '-' || word.Text[0] == '+'):
		if !d.option(word.Text) {
			w.unknown(part, nil, "an option that is not known: "+word.Text)
		}
	case d.functions:
		w.exportFunction(d, part, s)
	default:
		name, value, assigned := strings.Cut(word.Text, "=")
		switch {
		case !isName(name):
			w.unknown(part, nil, "declares something whose subscript may be code")
			s.forgetAll()
		case assigned:
			w.declareValue(name, variable{value: programs.Literal(value)}, d, part, s)
		default:
			w.attributes(name, d, part, s)
		}
	}
}

// declareValue is NAME=VALUE with attributes.
func (w *walker) declareValue(name string, v variable, d *declarer, part int, s *state) {
	if d.evaluates && !v.holdsNumber() {
		w.unknown(part, nil, "the value of "+name+" is evaluated as code")
	}
	if d.evaluates || d.stray {
		v = variable{}
	}
	v.exported, v.unsure = d.exports || w.exports, d.unsure || d.local && len(w.scopes) > 0
	w.assign(name, v, s)
	w.attributes(name, d, part, s)
	if !d.exports && w.noticed(name, s) {
		w.setBy(name, part)
	}
}

// attributes gives a variable the attributes without a value.
func (w *walker) attributes(name string, d *declarer, part int, s *state) {
	v, found := s.lookup(name)
	if !found {
		v = variable{value: w.value(name, s)}
	}
	if d.evaluates {
		v.value, v.isList, v.list = programs.Word{}, false, nil
	}
	v.fixed, v.unsure = v.fixed || d.fixes, v.unsure || d.unsure || d.local && len(w.scopes) > 0
	if d.exports && !d.prints {
		v.exported = true
		w.setBy(name, part)
	}
	if found || d.exports || d.fixes || d.local {
		s.set(name, v)
	}
}

// exportFunction is export -f: programs that are shells find the function in their
// environment.
func (w *walker) exportFunction(d *declarer, part int, _ *state) {
	if d.exports {
		w.setBy("BASH_FUNC", part)
		w.unknown(part, nil, "a function is exported: shells that are started run it instead of programs")
	}
}
