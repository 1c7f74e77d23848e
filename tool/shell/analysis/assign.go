package analysis

import (
	"mvdan.cc/sh/v3/syntax"
)

// An assigner says what assigns a variable: a part, or a place in the text.
type assigner struct {
	part int
	node syntax.Node
	// alone says that it is set for the command of the part, and for nothing else.
	alone bool
	// plain says that it gives the variable just this value, wherever it runs.
	plain bool
}

// assign gives a variable a value. Every way of assigning comes through here: it adds the
// parts for what is evaluated as code, and for what programs or the shell obey.
func (w *walker) assign(name string, v variable, by assigner, s *state) {
	w.assigned(name, v, by)
	w.hold(name, v, by, s)
}

// assigned adds the parts of an assignment.
func (w *walker) assigned(name string, v variable, by assigner) {
	if f := w.facts.of(name); !v.countable() {
		w.facts.about(f, &f.text)
	}
	if w.shapeOf(name)&integer != 0 && !v.countable() {
		w.unknown(by.part, by.node, "the value of "+name+", an integer, is evaluated as code")
	}
	switch {
	case by.alone:
		w.setFor(name, by.part)
	case !w.noticed(name):
	case by.part > 0:
		w.setBy(name, by.part)
	default:
		w.add(Part{Kind: Assigns, Variable: name, Line: w.line(by.node), Source: w.source(by.node)})
		w.codeIn(name, len(w.parts))
	}
}

// noticed reports whether programs or the shell would notice that a variable is assigned.
func (w *walker) noticed(name string) bool {
	if w.exports || obeyed(name) {
		return true
	}
	if w.facts.of(name).exports {
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
