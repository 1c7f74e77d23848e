package analysis

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Read reads a command that would run in the folder dir, an absolute path, and says what
// it would do. An error means that the text is no command that can be read; it says where,
// and such text must not run. There is always a part: text that does nothing outside the
// shell itself is said to run the builtin `:`.
func Read(text, dir string, world World) (script *Script, err error) {
	defer recovered(&script, &err)
	return read(text, dir, world, (*walker).script)
}

// ReadWithin is [Read] for a command that runs in dir or somewhere below it. Its relative paths
// are unknown.
func ReadWithin(text, dir string, world World) (script *Script, err error) {
	defer recovered(&script, &err)
	return read(text, dir, world, func(w *walker, f *syntax.File, s *state) {
		s.folders = folders{within: dir}
		w.script(f, s)
	})
}

// recovered is deferred, and makes an error of a panic.
func recovered(script **Script, err *error) {
	if r := recover(); r != nil {
		*script, *err = nil, fmt.Errorf("the command cannot be read: internal error: %v", r)
	}
}

func read(text, dir string, world World, visit func(*walker, *syntax.File, *state)) (*Script, error) {
	odd, err := gate(text)
	if err != nil {
		return nil, err
	}
	f, err := canonical(text)
	if err != nil {
		return nil, err
	}
	if len(f.file.Stmts) == 0 {
		return nil, errors.New("the command is empty")
	}
	w := walked(f.text, dir, world, func(w *walker, s *state) { visit(w, f.file, s) })
	if w.tooMuch() {
		odd = fmt.Sprintf("does more than is read: at most %d things, and %d bytes about them; split it", maxParts, maxKept)
		w.parts = []Part{{Kind: Unknown, Line: 1, Source: first(f.text), Why: "it " + odd, Opaque: true}}
	}
	if len(w.parts) == 0 { // such as a test, or a variable of the shell's own
		w.add(Part{Kind: Runs, Builtin: true, Line: 1, Source: f.text, Dir: dir,
			Words: literals([]string{":"}), Reading: harmlessReading(":")})
	}
	return &Script{
		Text:  Text{text: f.text, original: text, printed: f.printed},
		Parts: w.parts,
		Odd:   odd,
		Shows: w.shown,
		Files: w.files,
	}, nil
}

// walked visits a text, and again for as long as that finds facts which an earlier part of
// it would have had to know.
func walked(text, dir string, world World, visit func(*walker, *state)) *walker {
	known := &facts{names: make(map[string]*fact), functions: make(map[string]*fact)}
	for {
		known.walk++
		known.learned = false
		w := &walker{world: world, at: place{text: text}, repeats: maxRepeats, entries: maxEntries, braces: maxBraces, room: maxExpanded, facts: known, start: began(dir, world)}
		w.parts = make([]Part, 0, min(expected(text), maxParts))
		visit(w, &state{memory: &memory{}, straight: true, folders: w.start})
		if known.learned && known.walk == maxWalks {
			w.unknown(0, nil, "which values its variables have is unknown before it runs")
		} else if known.learned {
			continue
		}
		w.settle()
		return w
	}
}

// first is the beginning of a text that is too long to be repeated.
func first(text string) string {
	const most = 1000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// began is the folder that a text starts in. Where `cd -` leads from there is only known if
// the shell is not told.
func began(dir string, world World) folders {
	way := &trail{}
	if _, set := world.Variable("OLDPWD"); set {
		way.before = &folders{}
	}
	return folders{list: []string{dir}, trail: way}
}

// script walks a whole text, and then the functions that it defines but never calls by
// name: a handler of the shell or a trap may.
func (w *walker) script(file *syntax.File, s *state) {
	w.misread(file)
	w.expansions(file)
	w.stmts(file.Stmts, s)
	for len(w.pending) > 0 {
		decl := w.pending[0]
		w.pending = w.pending[1:]
		if !w.called[decl] {
			w.markCalled(decl)
			w.inside(w.places[decl], func() { w.stmt(decl.Body, s.adrift()) })
		}
	}
}

func (w *walker) markCalled(decl *syntax.FuncDecl) {
	if w.called == nil {
		w.called = make(map[*syntax.FuncDecl]bool)
	}
	w.called[decl] = true
}

// expected guesses how many parts a text has, so that they need not be moved often: each
// command, and one thing that it does.
func expected(text string) int {
	commands := 1
	for i := range len(text) {
		switch text[i] {
		case ';', '|', '&', '\n', '(':
			if i == 0 || text[i-1] != text[i] {
				commands++
			}
		}
	}
	return 2 * commands
}
