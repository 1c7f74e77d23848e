package analysis

import (
	"slices"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of one reading. What lies beyond them becomes an unknown part.
const (
	maxRepeats = 1500 // commands walked again: loops, calls, inner scripts
	maxInner   = 12   // scripts inside scripts
	maxEntries = 2000 // names looked at for patterns and trees
	maxBraces  = 2000 // words that braces make
)

// A walker visits a parsed text and collects its parts.
type walker struct {
	world   World
	parts   []Part
	files   []string
	at      place
	start   folders // where the text began
	repeats int     // how many commands more may be walked again
	entries int     // how many names more may be looked at
	braces  int     // how many words more braces may make
	depth   int     // scripts inside scripts
	again   int     // loops, calls and inner scripts that the walk is inside of
	spent   bool

	calls    []string           // functions being called
	scopes   []scope            // with their local variables
	pending  []*syntax.FuncDecl // functions that were defined
	places   map[*syntax.FuncDecl]place
	called   map[*syntax.FuncDecl]bool
	volatile map[string]bool // variables that a trap may change at any time
	unsteady bool            // a trap may change all of them
	adrift   bool            // a trap may change the folder at any time
	changed  bool            // a command before may have changed what is on disk
	exports  bool            // every assignment exports (set -a)
	crossed  bool            // an output may be a file that was opened to be read
	wrote    map[string]bool // paths at or below which a part writes
	links    []madeLink
	scripts  []ranScript
	rounds   []span // parts of loops that were walked once
	settings map[string]gitSettings
	shown    []string         // variables whose values may be printed, see Script
	shapes   map[string]shape // what variables are declared to be
	reshaped bool             // there is more of that than the reading began with
}

// A place is where the text that is walked comes from.
type place struct {
	text      string // the text that positions point into
	line      int    // the line of the outer command, 0 for the text's own lines
	cause     int    // 1 + the part that runs this text, 0 for none
	inner     bool
	elsewhere bool
	piped     bool // standard input is a pipe
	test      bool // inside [[ … ]]
}

// add appends a part and returns its number: 1 + its index.
func (w *walker) add(p Part) int {
	p.Inner = p.Inner || w.at.inner
	p.Elsewhere = p.Elsewhere || w.at.elsewhere
	if p.Cause == 0 && p.Kind != Assigns {
		p.Cause = w.at.cause
	}
	if p.Kind == Touches && p.Access == programs.Write {
		w.noteWrite(p.Path)
	}
	w.parts = append(w.parts, p)
	return len(w.parts)
}

// unknown adds a part for code that cannot be read, caused by the part of that number.
func (w *walker) unknown(cause int, node syntax.Node, why string) {
	p := Part{Kind: Unknown, Cause: cause, Why: why, Opaque: true}
	switch {
	case node != nil:
		p.Line, p.Source = w.line(node), w.source(node)
	case cause > 0:
		p.Line, p.Source = w.parts[cause-1].Line, w.parts[cause-1].Source
	default:
		p.Line, p.Source = max(w.at.line, 1), w.at.text
	}
	w.add(p)
}

// line returns where a node stands in the canonical text.
func (w *walker) line(node syntax.Node) int {
	if w.at.line > 0 {
		return w.at.line
	}
	return int(node.Pos().Line())
}

// source returns the text of a node.
func (w *walker) source(node syntax.Node) string {
	return w.between(node.Pos(), node.End())
}

func (w *walker) between(from, to syntax.Pos) string {
	i, j := int(from.Offset()), int(to.Offset())
	if i < 0 || i > j || j > len(w.at.text) {
		return w.at.text
	}
	return w.at.text[i:j]
}

// inside walks something below another place and comes back.
func (w *walker) inside(at place, walk func()) {
	saved := w.at
	w.at = at
	walk()
	w.at = saved
}

// step counts a command that is walked again. It reports false, and says so in a part, once
// there were too many.
func (w *walker) step() bool {
	if w.again == 0 {
		return true
	}
	w.repeats--
	return w.mayRepeat()
}

func (w *walker) mayRepeat() bool {
	if w.repeats > 0 {
		return true
	}
	if !w.spent {
		w.spent = true
		w.unknown(0, nil, "too many repetitions to follow")
	}
	return false
}

// repeating walks something that was or will be walked elsewhere too.
func (w *walker) repeating(walk func()) {
	w.again++
	walk()
	w.again--
}

// file notes a script that the command runs by name.
func (w *walker) file(path string) {
	if !slices.Contains(w.files, path) {
		w.files = append(w.files, path)
	}
}

// isVolatile reports whether a trap may change the variable at any time.
func (w *walker) isVolatile(name string) bool { return w.unsteady || w.volatile[name] }

func literals(words []string) []programs.Word {
	list := make([]programs.Word, len(words))
	for i, word := range words {
		list[i] = programs.Literal(word)
	}
	return list
}
