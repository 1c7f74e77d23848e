package analysis

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

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
			w.add(Part{Kind: Runs, Cause: c.part, Alias: true, Line: 1, Source: first(text), Dir: s.Dir, Words: words, Reading: harmlessReading(real)})
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
			w.add(Part{Kind: Connects, Line: 1, Dir: u.Dir, Host: u.Host, Port: u.Port, Operand: programs.Literal(u.Host)})
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
