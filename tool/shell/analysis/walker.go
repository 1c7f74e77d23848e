package analysis

import (
	"slices"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of one reading. What lies beyond them becomes an unknown part, or an unknown word.
const (
	maxRepeats  = 1500      // commands walked again: loops, calls, inner scripts
	maxInner    = 12        // scripts inside scripts
	maxEntries  = 2000      // names looked at for patterns and trees
	maxBraces   = 2000      // words that braces make
	maxParts    = 1000      // more acts than that no gate takes
	maxKept     = 256 << 10 // bytes of all parts: they are shown, and kept in the record
	maxValue    = 64 << 10  // bytes of a value
	maxWords    = 4096      // words that one expansion makes
	maxExpanded = 256 << 10 // bytes that all expansions make
	maxScripts  = 512 << 10 // bytes of inner scripts
	maxPath     = 4096      // bytes of a path: the system takes no longer ones
)

// A walker visits a parsed text and collects its parts.
type walker struct {
	world    World
	parts    []Part
	files    []string
	at       place
	start    folders // where the text began
	repeats  int     // how many commands more may be walked again
	entries  int     // how many names more may be looked at
	braces   int     // how many words more braces may make
	room     int     // how many bytes more expansions may make
	scripted int     // bytes of inner scripts so far
	over     bool    // there are more parts than are kept
	depth    int     // scripts inside scripts
	again    int     // loops, calls and inner scripts that the walk is inside of
	spent    bool

	facts     *facts
	way       way
	risky     bool // what stands here may not run because an expansion failed
	unordered int  // loops around that are walked once

	calls    []string           // functions being called
	pending  []*syntax.FuncDecl // functions that were defined
	places   map[*syntax.FuncDecl]place
	called   map[*syntax.FuncDecl]bool
	changed  bool            // a command before may have changed what is on disk
	exports  bool            // every assignment exports (set -a)
	crossed  bool            // an output may be a file that was opened to be read
	wrote    map[string]bool // paths at or below which a part writes
	links    []madeLink
	scripts  []ranScript
	rounds   []span // parts of loops that were walked once
	settings map[string]gitSettings
	output   *listing // what the last simple command prints
	shown    []string // variables whose values may be printed, see Script
}

// A place is where the text that is walked comes from.
type place struct {
	text      string // the text that positions point into
	line      int    // the line of the outer command, 0 for the text's own lines
	cause     int    // 1 + the part that runs this text, 0 for none
	inner     bool
	elsewhere bool
	piped     bool     // standard input is a pipe
	listed    *listing // what comes through it, if that is known
	test      bool     // inside [[ … ]]
	handed    bool     // a program starts it: a shell there reads its text itself
	cleared   bool     // the PATH of the command is not what names are looked for in
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
	if len(w.parts) == maxParts {
		w.over = true
		return maxParts
	}
	w.parts = append(w.parts, p)
	return len(w.parts)
}

// spend takes what an expansion makes off what may be made, and reports whether there was room
// for it.
func (w *walker) spend(bytes int) bool {
	w.room -= bytes
	return w.room >= 0 && bytes <= maxValue
}

// tooMuch reports whether the parts are more than can be shown and kept. Their number counts,
// and all that is said in them.
func (w *walker) tooMuch() bool {
	kept := 0
	for i := range w.parts {
		p := &w.parts[i]
		kept += len(p.Path) + len(p.Operand.Text) + len(p.Dir) + len(p.Host) + len(p.Why) + len(p.Variable)
		if p.Kind == Unknown {
			kept += len(p.Source)
		}
		for _, word := range p.Words {
			kept += len(word.Text) + 8
		}
		for _, a := range p.Env {
			kept += len(a.Name) + len(a.Value.Text)
		}
	}
	return w.over || kept > maxKept
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

func literals(words []string) []programs.Word {
	list := make([]programs.Word, len(words))
	for i, word := range words {
		list[i] = programs.Literal(word)
	}
	return list
}
