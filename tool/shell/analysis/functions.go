package analysis

import (
	"slices"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// maxCalls is how deep functions may call each other.
const maxCalls = 20

// declare notes a function. Its body runs where it is called.
func (w *walker) declare(decl *syntax.FuncDecl, s *state) {
	if decl.Name == nil || !compound(decl.Body) {
		w.unknown(0, decl, "a function that bash does not read")
	}
	if decl.Name == nil {
		w.stmt(decl.Body, s.adrift())
		return
	}
	s.define(decl.Name.Value, function{bodies: []*syntax.FuncDecl{decl}})
	if w.places == nil {
		w.places = make(map[*syntax.FuncDecl]place)
	}
	w.places[decl] = w.at
	w.pending = append(w.pending, decl)
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

// callFunction walks what a function may be bound to, with the arguments.
func (w *walker) callFunction(name string, f function, args []programs.Word, part int, s *state) outcome {
	if len(f.bodies) == 1 && !f.maybe {
		return w.callBody(name, f.bodies[0], args, part, s)
	}
	branches := []*state{s}
	o := stays(s.folders)
	for _, body := range f.bodies {
		branch := s.fork()
		o = o.merge(w.callBody(name, body, args, part, branch))
		branches = append(branches, branch)
	}
	s.join(branches...)
	return o
}

func (w *walker) callBody(name string, decl *syntax.FuncDecl, args []programs.Word, part int, s *state) outcome {
	w.markCalled(decl)
	if slices.Contains(w.calls, name) || len(w.calls) >= maxCalls || !w.mayRepeat() {
		w.unknown(part, nil, "the function "+name+" calls itself, or too many others")
		s.forgetAll()
		s.folders = folders{}
		return stays(folders{})
	}
	params, known := s.params, s.paramsKnown
	s.params, s.paramsKnown = args, noneMany(args)
	var o outcome
	v := changes([]*syntax.Stmt{decl.Body}, s)
	at := w.places[decl]
	at.line, at.cause, at.inner, at.elsewhere = w.parts[part-1].Line, part, true, w.at.elsewhere
	body := s.fork()
	w.calls = append(w.calls, name)
	w.scopes = append(w.scopes, scope{under: s})
	w.inside(at, func() {
		w.repeating(func() { o = w.stmt(decl.Body, body) })
	})
	w.calls = w.calls[:len(w.calls)-1]
	w.restore(body, s)
	if v.jumps {
		v.apply(s)
		if v.moves {
			o = stays(folders{})
		} else {
			o = stays(o.either())
		}
	}
	s.params, s.paramsKnown = params, known
	return o
}

// A scope has the variables that are local to a function that is being called. One that
// was assigned before it became local is false: it changed outside as well.
type scope struct {
	under *state
	local map[string]bool
}

// restore takes over what a function changed, but for its local variables.
func (w *walker) restore(body, s *state) {
	top := w.scopes[len(w.scopes)-1]
	w.scopes = w.scopes[:len(w.scopes)-1]
	for name, clean := range top.local {
		if clean {
			delete(body.vars, name)
		} else {
			body.set(name, variable{})
		}
	}
	s.join(body)
}

// local notes that a variable belongs to the function that is being called.
func (w *walker) local(name string, s *state) {
	if len(w.scopes) == 0 {
		return
	}
	top := &w.scopes[len(w.scopes)-1]
	if _, done := top.local[name]; done {
		return
	}
	if top.local == nil {
		top.local = make(map[string]bool)
	}
	clean := true
	for l := s; l != nil && l != top.under; l = l.under {
		_, assigned := l.vars[name]
		clean = clean && !assigned && !l.barrier
	}
	top.local[name] = clean
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
