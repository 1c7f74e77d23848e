package analysis

import (
	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// A variable is what is known of one. Its zero value is one whose value is not known.
type variable struct {
	value    programs.Word
	list     []programs.Word // the elements of an indexed array
	isList   bool
	numeric  bool   // holds a number, perhaps a negative one
	exported bool   // for certain
	from     string // for a pattern: the folder whose names it stands for
}

// countable reports whether a value is certainly nothing but a number, or a list of them. With
// a zero in front it is one that arithmetic may refuse.
func (v variable) countable() bool {
	if v.isList {
		return allNumbers(v.list)
	}
	text := v.value.Text
	return v.numeric || v.value.Known && (text == "" || text == "0" || text[0] != '0' && digits(text)) || !v.value.Known && v.value.Number
}

// A memory is what one shell knows by the straight line of its text.
type memory struct {
	vars  map[string]variable
	keyed map[string]bool // associative arrays
	funcs map[string]*syntax.FuncDecl
	lost  bool // code ran that was not seen: what the variables hold is not known
}

func (m *memory) keep(name string, v variable) {
	if m.vars == nil {
		m.vars = make(map[string]variable)
	}
	m.vars[name] = v
}

// A state is where the shell is at one point of the text.
type state struct {
	*memory
	// straight says that what stands here runs once, whatever happened before.
	straight bool
	folders  folders

	params      []programs.Word // $1 and so on
	paramsKnown bool
}

// fork is the state of what may not run, run several times, or run in a shell of its own.
func (s *state) fork() *state {
	f := *s
	f.straight = false
	return &f
}

// adrift is a state in which nothing is known but the functions: for code that runs at a
// time that is not known.
func (s *state) adrift() *state {
	return &state{memory: &memory{funcs: s.funcs, lost: true}}
}

// handed is the state of a program that is started now: the variables that the shell exports,
// and no functions. A variable that may or may not be exported is loose.
func (w *walker) handed(s *state) *state {
	inner := &memory{lost: s.lost}
	for name, v := range s.vars {
		if _, inEnvironment := w.world.Variable(name); v.exported || inEnvironment || name == "HOME" {
			if v.isList {
				v = variable{}
			}
			inner.keep(name, v)
		}
	}
	return &state{memory: inner, straight: true, folders: folders{list: s.folders.list}} // it has no way back
}

// isNumber reports whether a word is certainly made of digits.
func isNumber(w programs.Word) bool {
	if !w.Known {
		return w.Number
	}
	return digits(w.Text)
}

func allNumbers(words []programs.Word) bool {
	for _, word := range words {
		if !isNumber(word) {
			return false
		}
	}
	return true
}
