package analysis

import (
	"slices"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// maxCalls is how deep functions may call each other.
const maxCalls = 20

// declare notes a function. Its body runs where it is called, if the name is certain to mean
// it; else it is walked for itself.
func (w *walker) declare(decl *syntax.FuncDecl, s *state) {
	if decl.Name == nil || !compound(decl.Body) {
		w.unknown(0, decl, "a function that bash does not read")
	}
	if decl.Name == nil {
		w.stmt(decl.Body, s.adrift())
		return
	}
	if name := decl.Name.Value; w.once(w.function(name), decl, s.straight && !w.risky) {
		if s.funcs == nil {
			s.funcs = make(map[string]*syntax.FuncDecl)
		}
		s.funcs[name] = decl
	} else {
		delete(s.funcs, name)
	}
	if w.places == nil {
		w.places = make(map[*syntax.FuncDecl]place)
	}
	w.places[decl] = w.at
	w.pending = append(w.pending, decl)
}

// function is the fact about a name of a function. Every command asks for its name, so that
// every one that comes up counts as used.
func (w *walker) function(name string) *fact {
	f := w.facts.functions[name]
	if f == nil {
		f = &fact{used: w.facts.walk}
		w.facts.functions[name] = f
	}
	return f
}

// compound reports whether a statement may be the body of a function in bash.
func compound(stmt *syntax.Stmt) bool {
	switch stmt.Cmd.(type) {
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause,
		*syntax.ArithmCmd, *syntax.TestClause:
		return !stmt.Negated
	}
	return false
}

// callFunction walks the body of a function with the arguments.
func (w *walker) callFunction(name string, decl *syntax.FuncDecl, args []programs.Word, part int, s *state) outcome {
	w.markCalled(decl)
	if slices.Contains(w.calls, name) || len(w.calls) >= maxCalls || !w.mayRepeat() {
		w.unknown(part, nil, "the function "+name+" calls itself, or too many others")
		return w.anything(s)
	}
	at := w.places[decl]
	at.line, at.cause, at.inner, at.elsewhere = w.parts[part-1].Line, part, true, w.at.elsewhere
	body := s.fork()
	body.params, body.paramsKnown = args, noneMany(args)
	before := w.way
	var o outcome
	w.calls = append(w.calls, name)
	w.inside(at, func() {
		w.repeating(func() { o = w.stmt(decl.Body, body) })
	})
	w.calls = w.calls[:len(w.calls)-1]
	if before.moves != w.way.moves && before.jumps != w.way.jumps {
		return stays(folders{})
	}
	return o
}

// noneMany reports whether each word is exactly one.
func noneMany(words []programs.Word) bool {
	for _, word := range words {
		if !word.Known && word.Many || word.Glob {
			return false
		}
	}
	return true
}
