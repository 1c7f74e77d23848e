package analysis

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
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
		odd = fmt.Sprintf("does too much to check: at most %d acts and %d bytes about them; split it",
			maxParts, maxKept)
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
		w := &walker{world: world, at: place{text: text}, repeats: maxRepeats, entries: maxEntries, braces: maxBraces,
			room: maxExpanded, facts: known, start: began(dir, world)}
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

// A Start is a program that a running shell is about to start, with its real words.
type Start struct {
	Argv []string
	Dir  string
	// Real is the program's file without links; empty if it is not known.
	Real string
	// Env are the variables that differ from those of the whole command.
	Env []programs.Assignment
	// Interpreted says that our shell interprets the text that the program is handed.
	Interpreted bool
	// Builtin says that the shell does it itself.
	Builtin bool
	// Fed says that something may come on standard input; Input is what, if it is known.
	Fed   bool
	Input programs.Word
	// Crossed says that a file that is only read stands where output may go.
	Crossed bool
}

// ReadStart says what a program that is about to be started would do. The words are known,
// so nothing has to be parsed but what the program itself runs.
func ReadStart(s Start, world World) *Script {
	text := QuoteWords(s.Argv)
	w := walked(text, s.Dir, world, func(w *walker, at *state) {
		w.crossed, w.at.handed = s.Crossed, !s.Interpreted
		c := &command{words: literals(s.Argv), state: at, outside: !s.Builtin, builtin: s.Builtin}
		if s.Fed {
			c.stdin = input{text: s.Input, given: true, fed: true}
		}
		c.part = w.add(Part{Kind: Runs, Line: 1, Source: first(text)})
		for _, a := range s.Env {
			if !syntax.ValidName(a.Name) { // as exported functions have
				w.unknown(c.part, nil, "a function is handed to the shells that it starts")
				continue
			}
			w.parts[c.part-1].Env = append(w.parts[c.part-1].Env, a)
			w.assign(a.Name, variable{value: a.Value}, assigner{part: c.part, alone: true}, at)
		}
		w.run(c)
		if real := path.Base(s.Real); s.Real != "" && real != path.Base(s.Argv[0]) {
			words := append(literals([]string{real}), c.words[1:]...)
			w.add(Part{Kind: Runs, Cause: c.part, Alias: true, Line: 1, Source: first(text), Dir: s.Dir, Words: words,
				Reading: harmlessReading(real)})
		}
	})
	if w.tooMuch() {
		why := "it does more than is read"
		w.parts = []Part{{Kind: Unknown, Line: 1, Source: first(text), Dir: s.Dir, Why: why, Opaque: true}}
	}
	return &Script{Text: Text{text: text, original: text}, Parts: w.parts, Files: w.files}
}

// A FileUse is a file or folder that a running shell is about to open, or a host that it is
// about to connect to.
type FileUse struct {
	Access programs.Kind
	Path   string // absolute
	Names  bool   // only the names in the folder are read
	Dir    string
	// Host and Port are set for a connection; then Path is empty.
	Host, Port string
}

// ReadUse says what that does. A device such as /dev/null does nothing.
func ReadUse(u FileUse, world World) *Script {
	text := map[programs.Kind]string{programs.Read: "< ", programs.Write: "> "}[u.Access] + QuoteWords([]string{u.Path})
	if u.Host != "" {
		text = "connect to " + u.Host + ":" + u.Port
	}
	w := walked(text, u.Dir, world, func(w *walker, at *state) {
		if u.Host != "" {
			w.add(Part{Kind: Connects, Line: 1, Dir: u.Dir, Host: u.Host, Port: u.Port,
				Operand: programs.Literal(u.Host)})
			return
		}
		p := Part{Kind: Touches, Line: 1, Dir: u.Dir, Access: u.Access, Redirect: true, Names: u.Names}
		w.touch(p, programs.Literal(u.Path), at, false)
	})
	for i := range w.parts {
		w.parts[i].Source = text
	}
	return &Script{Text: Text{text: text, original: text}, Parts: w.parts}
}

// QuoteWords writes words so that a shell reads exactly these.
func QuoteWords(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		quoted, err := syntax.Quote(word, syntax.LangBash)
		if err != nil { // a zero byte, which no word has
			quoted = "''"
		}
		b.WriteString(quoted)
	}
	return b.String()
}

// Builtins returns the names of what the shell does itself.
func Builtins() []string { return append(slices.Collect(maps.Keys(special)), "kill") }
