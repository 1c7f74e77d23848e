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
	fixes     bool // what is assigned later has no effect
	shape     shape
	keyed     bool // -A
	local     bool
	functions bool
	prints    bool
	unsure    bool // what is exported may no longer be
	stray     bool // local outside a function: bash refuses it
	retracts  bool // -n takes an export back
}

func (w *walker) declarer(variant string) declarer {
	return declarer{
		exports:  variant == "export",
		retracts: variant == "export",
		fixes:    variant == "readonly",
		local:    variant == "local" || variant == "declare" || variant == "typeset",
		stray:    variant == "local" && len(w.scopes) == 0,
	}
}

// option reads one word of options. It reports false for what it does not know.
func (d *declarer) option(text string) bool {
	for _, c := range text[1:] {
		switch c {
		case 'x':
			d.exports, d.unsure = d.exports || text[0] == '-', d.unsure || text[0] != '-'
		case 'r', 't':
			d.fixes = true
		case 'a':
			d.shape |= array
		case 'A':
			d.shape |= associative
			d.keyed = text[0] == '-' && !d.stray
		case 'l', 'u', 'c':
			d.shape |= folded
		case 'i':
			d.shape |= integer
		case 'n':
			if d.retracts {
				d.unsure = true
			} else {
				d.shape |= reference
			}
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
	w.showDeclared(words, d)
}

// declared walks one argument, and returns it as a word.
func (w *walker) declared(a *syntax.Assign, d *declarer, part int, s *state) programs.Word {
	if a.Name == nil { // an option, or a word that is only known when it runs
		word := w.single(a.Value, s)
		w.declareWord(word, d, part, s)
		return word
	}
	name := a.Name.Value
	if d.functions {
		w.exportFunction(d, part, s)
		return programs.Literal(name)
	}
	if d.local {
		w.local(name, s)
	}
	if a.Naked {
		if a.Index != nil {
			w.subscript(a.Index, false, s, a)
		}
		w.declareName(name, d, part, s)
		return programs.Literal(name)
	}
	old, _ := s.lookup(name)
	v := w.assignedValue(a, d.keyed && a.Index == nil && w.mayBeKeyed(name, old), s)
	if a.Array == nil {
		w.arrayText(name, v, d, part)
	}
	w.declareValue(name, v, d, part, s)
	if v.value.Known && a.Index == nil {
		return programs.Literal(name + "=" + v.value.Text)
	}
	return programs.Word{Text: w.source(a), Begin: name}
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
			v := variable{value: programs.Literal(value)}
			w.arrayText(name, v, d, part)
			w.declareValue(name, v, d, part, s)
		default:
			w.declareName(name, d, part, s)
		}
	}
}

// arrayText adds an unknown part for a value that stands for an array and is given as text:
// the shell reads it as the text of a command.
func (w *walker) arrayText(name string, v variable, d *declarer, part int) {
	if (w.shapeOf(name)|d.shape)&(array|associative) == 0 || v.countable() || v.value.Known && !strings.HasPrefix(v.value.Text, "(") {
		return
	}
	w.unknown(part, nil, "the value of "+name+", an array, is text that the shell reads as code")
}

// declareValue is NAME=VALUE with attributes.
func (w *walker) declareValue(name string, v variable, d *declarer, part int, s *state) {
	w.shaped(name, d, part)
	if d.stray {
		v = variable{numeric: v.countable()}
	}
	v.exported, v.unsure = d.exports || w.exports, d.unsure || d.local && len(w.scopes) > 0
	w.assign(name, v, assigner{part: part}, s)
	w.fix(name, d, s)
}

// declareName is NAME alone with attributes.
func (w *walker) declareName(name string, d *declarer, part int, s *state) {
	w.shaped(name, d, part)
	if d.local && len(w.scopes) > 0 { // a new one
		w.hold(name, variable{}, s)
	}
	if _, found := s.lookup(name); !found {
		if d.prints && !d.exports && !d.fixes {
			return
		}
		s.set(name, variable{value: w.value(name, s)})
	}
	w.fix(name, d, s)
	if d.exports && !d.prints {
		w.setBy(name, part)
	}
}

// shaped notes what the variable is declared to be.
func (w *walker) shaped(name string, d *declarer, part int) {
	w.declareShape(name, d.shape)
	if d.shape&reference != 0 {
		w.unknown(part, nil, name+" stands for another variable")
	}
}

// fix gives a variable of the state the attributes.
func (w *walker) fix(name string, d *declarer, s *state) {
	v, _ := s.lookup(name)
	if d.shape&changing != 0 {
		v.value, v.isList, v.list = programs.Word{}, false, nil
	}
	v.keyed = v.keyed || d.keyed && !d.prints && w.mayBeKeyed(name, v)
	v.fixed, v.unsure = v.fixed || d.fixes, v.unsure || d.unsure || d.local && len(w.scopes) > 0
	v.exported = v.exported || d.exports && !d.prints
	s.set(name, v)
}

// exportFunction is export -f: programs that are shells find the function in their
// environment.
func (w *walker) exportFunction(d *declarer, part int, _ *state) {
	if d.exports {
		w.setBy("BASH_FUNC", part)
		w.unknown(part, nil, "a function is exported: shells that are started run it instead of programs")
	}
}
