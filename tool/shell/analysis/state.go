package analysis

import (
	"maps"
	"slices"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// A variable is what is known of one. Its zero value is one whose value is not known.
type variable struct {
	value    programs.Word
	list     []programs.Word // the elements of an indexed array
	isList   bool
	numeric  bool // holds a number, perhaps a negative one
	exported bool // perhaps only if unsure
	unsure   bool
	fixed    bool   // has an attribute: what is assigned is not what it holds afterwards
	keyed    bool   // certainly an associative array
	from     string // for a pattern: the folder whose names it stands for
}

// A function is what a name may be bound to: its declarations, and perhaps nothing.
type function struct {
	bodies []*syntax.FuncDecl
	maybe  bool // it may also not be defined
}

// A state is what the shell knows at one point of the text. A branch works on a layer
// above the state where it began, so that both can be compared when it ends.
type state struct {
	under   *state
	vars    map[string]variable
	funcs   map[string]function
	barrier bool // what the layers below know no longer holds
	folders folders

	params       []programs.Word // $1 and so on
	paramsKnown  bool
	paramsChange bool // a command of this layer changed them
}

// fork returns a layer above the state.
func (s *state) fork() *state {
	return &state{under: s, folders: s.folders, params: s.params, paramsKnown: s.paramsKnown}
}

// adrift is a state in which nothing is known but the functions: for code that runs at a
// time that cannot be told.
func (s *state) adrift() *state {
	f := s.fork()
	f.barrier, f.folders, f.params, f.paramsKnown = true, folders{}, nil, false
	return f
}

// lookup returns what is known of a variable, and whether the text has a say in it.
func (s *state) lookup(name string) (variable, bool) {
	for l := s; l != nil; l = l.under {
		if v, ok := l.vars[name]; ok {
			return v, true
		}
		if l.barrier {
			return variable{}, true
		}
	}
	return variable{}, false
}

func (s *state) set(name string, v variable) {
	if s.vars == nil {
		s.vars = make(map[string]variable)
	}
	s.vars[name] = v
}

// forget makes the variables' values unknown. They stay exported if they were.
func (s *state) forget(names map[string]assigned) {
	for name, how := range names {
		v, _ := s.lookup(name)
		s.set(name, variable{numeric: how == byNumber, exported: v.exported, unsure: v.unsure, fixed: v.fixed})
	}
}

// forgetAll makes every variable's value unknown.
func (s *state) forgetAll() {
	s.vars, s.barrier = nil, true
}

func (s *state) function(name string) (function, bool) {
	for l := s; l != nil; l = l.under {
		if f, ok := l.funcs[name]; ok {
			return f, len(f.bodies) > 0
		}
	}
	return function{}, false
}

func (s *state) define(name string, f function) {
	if s.funcs == nil {
		s.funcs = make(map[string]function)
	}
	s.funcs[name] = f
}

// join makes the state what it is after one of the branches ran. Each is a layer directly
// above it; the state itself among them stands for a branch that does nothing.
func (s *state) join(branches ...*state) {
	if !slices.ContainsFunc(branches, func(b *state) bool { return b != s && b.touched() }) {
		return
	}
	vars, funcs := map[string]variable{}, map[string]function{}
	barrier := false
	for _, b := range branches {
		if b == s {
			continue
		}
		barrier = barrier || b.barrier
		for name := range b.vars {
			if _, done := vars[name]; !done {
				vars[name] = mergeVariable(name, branches)
			}
		}
		for name := range b.funcs {
			if _, done := funcs[name]; !done {
				funcs[name] = mergeFunction(name, branches)
			}
		}
		if b.paramsChange {
			s.params, s.paramsKnown, s.paramsChange = nil, false, true
		}
	}
	if len(branches) == 1 {
		only := branches[0]
		s.params, s.paramsKnown = only.params, only.paramsKnown
	}
	if barrier {
		s.forgetAll()
	}
	for name, v := range vars {
		s.set(name, v)
	}
	for name, f := range funcs {
		s.define(name, f)
	}
}

// touched reports whether anything but the folder changed in this layer.
func (s *state) touched() bool {
	return len(s.vars) > 0 || len(s.funcs) > 0 || s.barrier || s.paramsChange
}

// mergeVariable is what is known of a variable after any of the branches.
func mergeVariable(name string, branches []*state) variable {
	merged, found := branches[0].lookup(name)
	for _, b := range branches[1:] {
		v, ok := b.lookup(name)
		exported, fixed := v.exported || merged.exported, v.fixed || merged.fixed
		unsure := v.unsure || merged.unsure || v.exported != merged.exported
		switch {
		case ok && found && v.same(merged):
		case ok && found && v.holdsNumber() && merged.holdsNumber():
			merged = variable{numeric: true, keyed: v.keyed && merged.keyed}
		default:
			merged = variable{keyed: ok && found && v.keyed && merged.keyed}
		}
		merged.exported, merged.unsure, merged.fixed = exported, unsure, fixed
		found = true
	}
	return merged
}

// same reports whether two variables hold the same, as far as can be told.
func (v variable) same(o variable) bool {
	return v.value == o.value && v.from == o.from && v.numeric == o.numeric && v.isList == o.isList && v.keyed == o.keyed && slices.Equal(v.list, o.list)
}

func (v variable) holdsNumber() bool { return v.numeric || isNumber(v.value) }

func mergeFunction(name string, branches []*state) function {
	var merged function
	for _, b := range branches {
		f, ok := b.function(name)
		merged.maybe = merged.maybe || f.maybe || !ok
		for _, body := range f.bodies {
			if !slices.Contains(merged.bodies, body) {
				merged.bodies = append(slices.Clip(merged.bodies), body)
			}
		}
	}
	return merged
}

// exported returns the state that a program started now begins with: the variables that
// it is handed, and no functions.
func (s *state) exported(inEnvironment func(string) bool) *state {
	inner := &state{folders: folders{list: s.folders.list}} // a shell of its own has no way back
	names := map[string]bool{}
	for l := s; l != nil; l = l.under {
		for name := range maps.Keys(l.vars) {
			names[name] = true
		}
		inner.barrier = inner.barrier || l.barrier
	}
	for name := range names {
		v, _ := s.lookup(name)
		switch {
		case v.unsure || v.isList:
			inner.set(name, variable{exported: true, unsure: true})
		case v.exported || inEnvironment(name):
			v.fixed, v.keyed = false, false
			inner.set(name, v)
		}
	}
	return inner
}

// isNumber reports whether a word is certainly made of digits.
func isNumber(w programs.Word) bool {
	if !w.Known {
		return w.Number
	}
	for i := range len(w.Text) {
		if w.Text[i] < '0' || w.Text[i] > '9' {
			return false
		}
	}
	return len(w.Text) > 0
}
