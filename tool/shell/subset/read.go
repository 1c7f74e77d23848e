package subset

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a text that is read.
const (
	maxLength = 64 << 10
	maxDepth  = 40
)

// Read reads a text that the shell would run with -c. The error is an [*Outside].
func Read(text string, shell Shell) (commands []Entry, err error) {
	r := newReader(text, shell, 1)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Outside:
			commands, err = nil, p
		default:
			commands, err = nil, &Outside{Construct: fmt.Sprintf("an internal error: %v", p), Line: 1}
		}
	}()
	r.gate()
	if end := r.list(); end != "" {
		r.outside("an unexpected %s", end)
	}
	r.finish()
	r.take()
	r.noSplit()
	if r.number {
		r.noCode()
	}
	return r.out, nil
}

// finish refuses here-documents without a body.
func (r *reader) finish() {
	if len(r.pending) > 0 {
		r.outside("a here-document without its end %s", r.pending[0].end)
	}
}

// A reader stands at a byte of a text. What is outside the subset ends it with a panic that
// only [Read] sees.
type reader struct {
	text  string
	pos   int
	shell Shell
	depth int

	out       []Entry
	before    []string        // what came since the last entry
	pending   []hereDoc       // here-documents whose body begins with the next line
	inside    int             // how many substitutions are open
	number    bool            // a value is used as a number
	functions bool            // there is a function
	split     map[string]bool // for zsh: variables that have a value with blanks or globs
	bare      map[string]bool // for zsh: variables that are used without quotes

	line, counted int // the line at byte counted
}

func newReader(text string, shell Shell, line int) *reader {
	r := &reader{text: text, shell: shell, line: line}
	if shell == Zsh {
		r.split, r.bare = make(map[string]bool), make(map[string]bool)
	}
	return r
}

func (r *reader) outside(format string, args ...any) {
	panic(&Outside{Construct: fmt.Sprintf(format, args...), Line: r.at()})
}

// at is the line of the reader.
func (r *reader) at() int {
	pos := min(r.pos, len(r.text))
	if r.counted <= pos {
		r.line += strings.Count(r.text[r.counted:pos], "\n")
	} else {
		r.line -= strings.Count(r.text[pos:r.counted], "\n")
	}
	r.counted = pos
	return r.line
}

// gate refuses what no construct may have.
func (r *reader) gate() {
	switch {
	case r.shell < Bash || r.shell > Zsh:
		r.outside("an unknown shell")
	case len(r.text) > maxLength:
		r.outside("a text of more than %d bytes", maxLength)
	case !utf8.ValidString(r.text):
		r.outside("text that is not UTF-8")
	}
	for i := range len(r.text) {
		if c := r.text[i]; c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			r.pos = i
			r.outside("the control character U+%04X", c)
		}
	}
}

// peek is the byte at a distance, or 0 behind the end. The gate has refused real NULs.
func (r *reader) peek(n int) byte {
	if i := r.pos + n; i >= 0 && i < len(r.text) {
		return r.text[i]
	}
	return 0
}

func (r *reader) has(prefix string) bool { return strings.HasPrefix(r.text[r.pos:], prefix) }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// ends reports whether a byte ends a word.
func ends(c byte) bool { return c == 0 || strings.IndexByte(" \t\n;&|<>()", c) >= 0 }

// token notes an operator or reserved word.
func (r *reader) token(s string) { r.before = append(r.before, s) }

// take begins an entry, and returns its place.
func (r *reader) take() int {
	r.out = append(r.out, Entry{Line: r.at(), Before: strings.Join(r.before, " ")})
	r.before = r.before[:0]
	return len(r.out) - 1
}

// blanks skips spaces, tabs, and line ends that a backslash hides. Such a line end stands
// between blanks and a word: elsewhere, shells differ about what it joins.
func (r *reader) blanks() {
	for {
		switch {
		case isBlank(r.peek(0)):
			r.pos++
		case r.has("\\\n"):
			if !isBlank(r.peek(-1)) {
				r.outside("a continued line without a blank before the backslash")
			}
			if len(r.pending) > 0 {
				r.outside("a continued line between a here-document and its body")
			}
			r.pos += 2
			rest := strings.TrimLeft(r.text[r.pos:], " \t")
			if rest == "" || rest[0] == '\n' || rest[0] == '#' {
				r.outside("a continued line with nothing after it")
			}
		default:
			return
		}
	}
}

// newline skips a line end and reads the here-documents that begin behind it.
func (r *reader) newline() {
	r.pos++
	pending := r.pending
	r.pending = nil
	for _, doc := range pending {
		r.body(doc)
	}
}

// lines skips blanks and line ends, and comments that have a line of their own or follow a
// blank.
func (r *reader) lines(comments bool) {
	for {
		r.blanks()
		switch {
		case r.peek(0) == '\n':
			r.newline()
		case r.peek(0) == '#' && comments:
			r.comment()
		default:
			return
		}
	}
}

func (r *reader) comment() {
	if r.pos > 0 && !isBlank(r.peek(-1)) && r.peek(-1) != '\n' {
		r.outside("a # that may begin a comment")
	}
	if r.inside > 0 {
		r.outside("a comment inside $(…)")
	}
	n := strings.IndexByte(r.text[r.pos:], '\n')
	if n < 0 {
		n = len(r.text) - r.pos
	}
	if strings.HasSuffix(r.text[r.pos:r.pos+n], "\\") {
		r.outside("a comment that ends in a backslash")
	}
	r.pos += n
}

// list reads commands up to one of the words or ;;, a closing parenthesis or the end of the
// text, and returns which; all but the parenthesis is skipped.
func (r *reader) list(until ...string) string {
	r.depth++
	if r.depth > maxDepth {
		r.outside("more than %d commands inside each other", maxDepth)
	}
	defer func() { r.depth-- }()
	for n, background := 0, false; ; n++ {
		r.lines(true)
		end, stop := "", false
		switch word := r.keyword(); {
		case slices.Contains(until, word):
			end, stop = word, true
		case r.has(";;") && slices.Contains(until, ";;"):
			end, stop = ";;", true
		case r.peek(0) == ')':
			end, stop = ")", true
		case r.pos == len(r.text):
			stop = true
		}
		if stop {
			if n == 0 && end != ";;" {
				r.outside("nothing where a command is needed")
			}
			if end != ")" {
				r.pos += len(end)
			}
			return end
		}
		if n > 0 && !background {
			r.token(";")
		}
		r.andOr()
		background = r.separator()
	}
}

// separator skips what ends a command in a list, and reports whether the command runs in the
// background.
func (r *reader) separator() bool {
	r.blanks()
	switch c, next := r.peek(0), r.peek(1); {
	case c == 0 || c == '\n' || c == ')' || c == '#' || c == ';' && next == ';':
		return false // the list looks at it
	case c == ';' && next != '&' && next != '|':
		r.pos++
		return false
	case c == '&' && (next == 0 || isBlank(next) || next == '\n' || next == ')'):
		r.pos++
		r.token("&")
		return true
	case c == '&' || c == ';':
		r.outside("%c without a blank after it", c)
	case c == '(':
		r.outside("a parenthesis in or after a word")
	}
	r.outside("a word right after a group, loop or condition")
	return false
}

func (r *reader) andOr() {
	r.pipeline()
	for r.blanks(); r.has("&&") || r.has("||"); r.blanks() {
		r.token(r.text[r.pos : r.pos+2])
		r.pos += 2
		r.lines(false)
		r.pipeline()
	}
}

func (r *reader) pipeline() {
	switch word := r.keyword(); word {
	case "time":
		if r.shell == Dash {
			r.outside("time, a program for dash")
		}
		if r.depth > 1 {
			r.outside("time inside another command")
		}
		fallthrough
	case "!":
		r.open(word)
		r.blanks()
		if c := r.peek(0); ends(c) && c != '(' || c == '-' || c == '#' || r.keyword() == "!" || r.keyword() == "time" ||
			word == "time" && (c == '(' || r.keyword() != "") {
			r.outside("%s without a command", word)
		}
	}
	first := len(r.out)
	r.command()
	for r.blanks(); r.peek(0) == '|' && r.peek(1) != '|'; r.blanks() {
		if r.peek(1) == '&' {
			r.outside("the operator |&")
		}
		r.piped(first, ">")
		first = len(r.out)
		r.token("|")
		r.pos++
		r.lines(false)
		r.command()
		r.piped(first, "<")
	}
}

// piped refuses, for zsh, a redirection of what a pipe connects: zsh uses both.
func (r *reader) piped(from int, direction string) {
	if r.shell != Zsh {
		return
	}
	for _, c := range r.out[from:] {
		for _, redir := range c.Redirs {
			if strings.Contains(redir.Op, direction) && redir.Fd != "2" {
				r.outside("a redirection beside a pipe, which zsh does both")
			}
		}
	}
}
