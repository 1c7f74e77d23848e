package programs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// words cuts a line of a test file into words. It knows 'single' and "double" quotes; $x is
// a word that is not known, and * makes a pattern, unless they are quoted.
func words(t testing.TB, line string) []Word {
	t.Helper()
	var out []Word
	for rest := strings.TrimLeft(line, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		w, n := oneWord(rest)
		out = append(out, w)
		rest = rest[n:]
	}
	return out
}

// oneWord takes a word off the front, and says how long it was written.
func oneWord(s string) (Word, int) {
	w := Word{Known: true}
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			continue
		case quote == c:
			quote = 0
			continue
		case quote == 0 && (c == ' ' || c == '\t'):
			return w, i
		case c == '$' && quote != '\'' && i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z', c == '*' && quote == 0:
			if w.Known {
				w.Known, w.Begin = false, w.Text
			}
			w.Glob = w.Glob || c == '*'
			w.Many = w.Many || quote == 0
		case c == '$' && i+1 < len(s) && s[i+1] == '#':
			w.Known, w.Number = false, true
		}
		w.Text += s[i : i+1]
	}
	return w, len(s)
}

// reading interprets a line of a test file.
func reading(t testing.TB, line string) Reading {
	t.Helper()
	all := words(t, line)
	return Interpret(all[0].Text, all[1:])
}

// describe writes a reading in a line.
func describe(r Reading) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case r.Program == "":
		add("not in the table")
	case !r.Known:
		add("unknown(%s)", r.Why)
	case r.Readonly:
		add("readonly")
	case r.Transparent:
		add("transparent")
	case !r.Complete:
		add("open")
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{{r.Opaque != "", "opaque"}, {r.Stdin, "stdin"}, {r.Raises, "raises"}} {
		if flag.on {
			add("%s", flag.name)
		}
	}
	for _, e := range r.Effects {
		add("%s", describeEffect(e))
	}
	for _, c := range r.Runs {
		add("%s", describeRun(c))
	}
	for _, s := range r.Scripts {
		add("script(%s)", describeWord(s))
	}
	if len(r.Spelled) > 0 {
		add("spell%v", r.Spelled)
	}
	if len(r.Plain) > 0 {
		add("plain%v", r.Plain)
	}
	if len(r.Shows) > 0 {
		add("shows(%s)", strings.Join(r.Shows, " "))
	}
	return strings.Join(parts, " ")
}

func describeEffect(e Effect) string {
	s := [...]string{Read: "read", Write: "write", Delete: "delete", Connect: "connect"}[e.Kind]
	if e.Names {
		s = "list"
	}
	if e.Tree {
		s += "-tree"
	}
	what := describeWord(e.What)
	if e.Into {
		what += " from " + describeWord(e.From)
	}
	if e.Port != "" {
		what += ":" + e.Port
	}
	return s + "(" + what + ")"
}

func describeRun(c Run) string {
	var b strings.Builder
	b.WriteString("run")
	if c.Elsewhere {
		b.WriteString("-elsewhere")
	}
	b.WriteString("(")
	if c.Cleared {
		b.WriteString("clear ")
	}
	for _, a := range c.Env {
		fmt.Fprintf(&b, "%s=%s ", a.Name, describeWord(a.Value))
	}
	if c.Dir.Text != "" {
		fmt.Fprintf(&b, "in %s: ", describeWord(c.Dir))
	}
	if c.IsScript {
		fmt.Fprintf(&b, "`%s`", describeWord(c.Script))
	}
	for i, w := range slices.Concat(c.Words, c.Args) {
		if i > 0 || c.IsScript {
			b.WriteByte(' ')
		}
		b.WriteString(describeWord(w))
	}
	return b.String() + ")"
}

// describeWord writes a word, with a question mark if it is not known, and a star if it may
// be several.
func describeWord(w Word) string {
	s := w.Text
	if !w.Known {
		s += "?"
		if w.Many {
			s += "*"
		}
	}
	return s
}
