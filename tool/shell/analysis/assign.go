package analysis

import (
	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// An assigner says what assigns a variable: a part, or a place in the text.
type assigner struct {
	part int
	node syntax.Node
	// alone says that it is set for the command of the part, and for nothing else.
	alone bool
}

// assign gives a variable a value. Every way of assigning comes through here: it adds the
// parts for what is evaluated as code, and for what programs or the shell obey.
func (w *walker) assign(name string, v variable, by assigner, s *state) {
	if w.shapeOf(name)&integer != 0 && !v.countable() {
		w.unknown(by.part, by.node, "the value of "+name+", an integer, is evaluated as code")
	}
	w.change(name, v, by, s)
}

// change is assign for what has no value that could be code, such as unset.
func (w *walker) change(name string, v variable, by assigner, s *state) {
	w.hold(name, v, s)
	switch {
	case by.alone:
		w.setFor(name, by.part)
	case !w.noticed(name, s):
	case by.part > 0:
		w.setBy(name, by.part)
	default:
		w.add(Part{Kind: Assigns, Variable: name, Line: w.line(by.node), Source: w.source(by.node)})
		w.codeIn(name, len(w.parts))
	}
}

// hold makes the state know the value, unless the variable changes what it is given.
func (w *walker) hold(name string, v variable, s *state) {
	old, _ := s.lookup(name)
	v.exported, v.unsure, v.fixed = v.exported || old.exported, v.unsure || old.unsure, v.fixed || old.fixed
	if old.fixed || dynamic(name) || w.shapeOf(name)&changing != 0 {
		numeric := v.countable() && w.shapeOf(name)&integer != 0
		v = variable{exported: v.exported, unsure: v.unsure, fixed: v.fixed, keyed: v.keyed, numeric: numeric}
	}
	s.set(name, v)
}

// countable reports whether a value is certainly nothing but a number, or a list of them.
func (v variable) countable() bool {
	if !v.isList {
		return v.holdsNumber() || v.value.Known && v.value.Text == ""
	}
	return allNumbers(v.list)
}

func allNumbers(words []programs.Word) bool {
	for _, word := range words {
		if !isNumber(word) {
			return false
		}
	}
	return true
}

// noticed reports whether programs or the shell would notice that a variable is assigned.
func (w *walker) noticed(name string, s *state) bool {
	if w.exports || obeyed(name) {
		return true
	}
	if v, _ := s.lookup(name); v.exported {
		return true
	}
	_, inEnvironment := w.world.Variable(name)
	return inEnvironment
}

// setFor adds the part for a variable that is set for one command.
func (w *walker) setFor(name string, part int) {
	p := w.parts[part-1]
	w.add(Part{Kind: Assigns, Cause: part, Variable: name, Line: p.Line, Source: p.Source})
	w.codeIn(name, part)
}

// setBy adds the part for a variable that a builtin sets for all that follows.
func (w *walker) setBy(name string, part int) {
	p := w.parts[part-1]
	w.add(Part{Kind: Assigns, Variable: name, Line: p.Line, Source: p.Source})
	w.codeIn(name, part)
}

// codeIn adds an unknown part if the shell runs what the variable holds.
func (w *walker) codeIn(name string, part int) {
	if why := runsCode[name]; why != "" {
		w.unknown(part, nil, why)
	}
}
