package analysis

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
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
	return v.numeric || v.value.Known && (text == "" || text == "0" || text[0] != '0' && digits(text)) ||
		!v.value.Known && v.value.Number
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

// A value is known only if the text assigns it once, and does so in its straight line:
// outside of functions, loops, conditions, subshells and whatever is redirected. What else
// the text does to a name, in whatever order, is a fact about the name that holds for all of
// the text. A walk collects the facts, and the text is walked again if one came up that an
// earlier part of the walk did not know.

// A fact is what a text does to a variable, or to a function.
type fact struct {
	at      site  // the place that assigns it
	loose   bool  // there are several, or one that may not run, or not in order
	text    bool  // somewhere it is given more than a number
	unset   bool  // it may be another variable by then: unset, or declared out of order
	exports bool  // somewhere it is exported
	fixed   bool  // read-only: another assignment fails
	shape   shape // all that it is declared to be
	used    int   // the last walk that asked for its value
}

// A site is a place in a text.
type site struct {
	text   string
	offset uint
}

// facts are what is known of a whole text before it is walked.
type facts struct {
	second    map[string]string // what the second reader says about texts for other shells
	names     map[string]*fact
	functions map[string]*fact
	scripts   map[string]script // inside the text
	walk      int
	learned   bool // what an earlier part of this walk would have had to know
	wild      bool // code that is not seen may change every variable at any time
	adrift    bool // a trap may change the folder at any time
	roams     bool // a loop leaves the folder where it began
	shifts    bool // the positional parameters are set by hand
}

// maxWalks is how often a text is walked because of what came up.
const maxWalks = 4

func (f *facts) of(name string) *fact {
	n := f.names[name]
	if n == nil {
		n = &fact{}
		f.names[name] = n
	}
	return n
}

// A script is a text inside the text, as it was read.
type script struct {
	odd  string
	form form
	err  error
}

// script reads a text once, however often it is walked.
func (f *facts) script(text string) (odd string, read form, err error) {
	s, ok := f.scripts[text]
	if !ok {
		if s.odd, s.err = gate(text); s.err == nil {
			s.form, s.err = canonical(text)
		}
		if f.scripts == nil {
			f.scripts = make(map[string]script)
		}
		f.scripts[text] = s
	}
	return s.odd, s.form, s.err
}

// learn notes one of the facts about all of the text.
func (f *facts) learn(what *bool) {
	f.learned = f.learned || !*what
	*what = true
}

// about notes one of the facts about a name.
func (f *facts) about(n *fact, what *bool) {
	f.learned = f.learned || !*what && n.used == f.walk
	*what = true
}

// once notes a place that sets what the fact is about, and reports whether it is the only
// one. It is not if it may run at another time than in the text.
func (w *walker) once(f *fact, node syntax.Node, inOrder bool) bool {
	at := site{text: w.at.text}
	if node != nil {
		at.offset = node.Pos().Offset()
	}
	if !inOrder || f.at != (site{}) && f.at != at {
		w.facts.about(f, &f.loose)
	}
	f.at = at
	return !f.loose
}

// lookup returns what is known of a variable, and whether the text has a say in it.
func (w *walker) lookup(name string, s *state) (variable, bool) {
	f := w.facts.of(name)
	f.used = w.facts.walk
	switch {
	case w.facts.wild || s.lost:
		return variable{}, true
	case f.loose:
		return variable{numeric: !f.text && w.startsAsNumber(name)}, true
	}
	v, ok := s.vars[name]
	return v, ok
}

// startsAsNumber reports whether a variable is a number, or not set, before it is assigned.
func (w *walker) startsAsNumber(name string) bool {
	value, set := w.world.Variable(name)
	return (!set || digits(value) && value[0] != '0') && !dynamic(name) && name != "HOME" && name != "IFS"
}

// hold keeps what a variable is given. In a text of several lines an expansion that fails
// ends its line, so that behind one nothing is certain to be assigned.
func (w *walker) hold(name string, v variable, by assigner, s *state) {
	f := w.facts.of(name)
	if f.fixed || dynamic(name) {
		w.mayFail()
	}
	if !w.once(f, by.node, by.plain && s.straight && !w.risky) {
		return
	}
	if dynamic(name) || w.shapeOf(name)&changing != 0 {
		v = variable{exported: v.exported, numeric: v.countable() && w.shapeOf(name)&integer != 0}
	}
	s.keep(name, v)
}

// mayFail notes an expansion whose failure ends the line, but not the text.
func (w *walker) mayFail() {
	w.risky = w.risky || strings.Contains(w.at.text, "\n")
}

// A shape is what declare makes of a variable: it decides what becomes of a value.
type shape uint8

const (
	integer     shape = 1 << iota // a value is evaluated as arithmetic
	folded                        // letters change their case
	array                         // an indexed array: declare takes a value in parentheses for code
	associative                   // an associative one: the same
	reference                     // a name for another variable
)

// changing are the shapes of variables that do not hold what they are given.
const changing = integer | folded | reference

// shapeOf returns all that a variable is declared to be anywhere in the text.
func (w *walker) shapeOf(name string) shape {
	is := bornAs(name)
	if f := w.facts.names[name]; f != nil {
		is |= f.shape
	}
	return is
}

// declareShape notes what a variable is declared to be.
func (w *walker) declareShape(name string, is shape) {
	f := w.facts.of(name)
	if f.shape|is != f.shape {
		f.shape |= is
		w.facts.learned = w.facts.learned || f.used == w.facts.walk || f.at != site{}
	}
}

// isKeyed reports whether a variable is certainly an associative array: bash does not make
// one of an indexed array, of its own variables, or of one that is read-only.
func (w *walker) isKeyed(name string, s *state) bool {
	if !s.keyed[name] || s.lost || w.facts.wild || dynamic(name) {
		return false
	}
	f := w.facts.of(name)
	f.used = w.facts.walk
	return !f.unset && !f.fixed && w.shapeOf(name)&(array|reference) == 0
}

// bornAs is the shape of variables that the shell itself makes.
func bornAs(name string) shape {
	switch name {
	case "BASHPID", "EUID", "HISTCMD", "OPTIND", "PPID", "RANDOM", "SRANDOM", "UID",
		"SECONDS", "LINENO", "EPOCHSECONDS": // the last three in some versions
		return integer
	case "DIRSTACK", "FUNCNAME", "GROUPS", "PIPESTATUS", "MAPFILE", "COPROC", "COMP_WORDS", "COMPREPLY",
		"BASH_ALIASES", "BASH_ARGC", "BASH_ARGV", "BASH_CMDS", "BASH_LINENO", "BASH_REMATCH", "BASH_SOURCE", "BASH_VERSINFO":
		return array
	}
	return 0
}

// isNumeric reports whether a word is a number whatever its variables hold.
func isNumeric(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	switch part := word.Parts[0].(type) {
	case *syntax.ArithmExp:
		return true
	case *syntax.Lit:
		return digits(part.Value)
	}
	return false
}

func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

func isName(text string) bool {
	return text != "" && (text[0] < '0' || text[0] > '9') &&
		!slices.ContainsFunc([]byte(text), func(c byte) bool { return !isNameByte(c) })
}
