package subset

import (
	"slices"
	"strings"
)

// simple reads assignments, words and redirections.
func (r *reader) simple() {
	place := r.take()
	for r.blanks(); ; r.blanks() {
		c := &r.out[place]
		switch b := r.peek(0); {
		case r.redirects():
			r.redirection(place)
			continue
		case b == '#' && isBlank(r.peek(-1)) && len(c.Words)+len(c.Assigns)+len(c.Redirs) > 0, b == ')':
		case b == '(':
			r.outside("a parenthesis in or after a word")
		case ends(b) && !r.has("<("):
		case len(c.Words) == 0 && r.assignment(place):
			continue
		default:
			if len(c.Words) == 0 {
				r.first()
			}
			word := r.word(plainWord)
			if len(r.out[place].Words) == 0 && strings.Contains(word.Raw, "=") {
				r.outside("a command name with =, which may be an assignment")
			}
			r.out[place].Words = append(r.out[place].Words, word)
			continue
		}
		r.checked(place)
		return
	}
}

// first refuses what a first word may not be.
func (r *reader) first() {
	switch b := r.peek(0); {
	case b == '{' || b == '<':
		r.outside("a command that begins with %c", b)
	case b == '%':
		r.outside("a command that begins with %%")
	case r.keyword() != "":
		r.outside("%s after an assignment or redirection", r.keyword())
	case r.shell == Zsh && b == '-' && ends(r.peek(1)):
		r.outside("the modifier - of zsh")
	}
}

// assignment reads name=value, if that is what comes.
func (r *reader) assignment(place int) bool {
	begin := r.pos
	name := r.name()
	if name == "" {
		return false
	}
	a := Assign{Name: name}
	switch {
	case r.peek(0) == '[':
		r.outside("an assignment to an element, or a command with [")
	case r.has("+="):
		if r.shell == Dash {
			r.outside("+=, which dash does not know")
		}
		a.Append = true
		r.pos += 2
	case r.peek(0) == '=':
		r.pos++
	default:
		r.pos = begin
		return false
	}
	r.settable(name)
	if r.peek(0) == '(' {
		r.outside("an array")
	}
	a.Value = r.word(valueWord)
	r.out[place].Assigns = append(r.out[place].Assigns, a)
	r.splits(name, a.Value)
	return true
}

// name reads a name, or nothing.
func (r *reader) name() string {
	n := 0
	for c := r.peek(n); c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		n > 0 && c >= '0' && c <= '9'; c = r.peek(n) {
		n++
	}
	r.pos += n
	return r.text[r.pos-n : r.pos]
}

// redirects reports whether a redirection comes.
func (r *reader) redirects() bool {
	switch c := r.peek(0); {
	case c == '<' || c == '>':
		return !r.has("<(")
	case c == '&':
		return r.peek(1) == '>'
	case c >= '0' && c <= '9':
		return r.peek(1) == '<' || r.peek(1) == '>'
	}
	return false
}

// operators are those of redirections, longest first.
var operators = []string{"<<<", "<<-", "<<", "<", ">>", ">&", ">", "&>>", "&>"}

// redirection reads a redirection into an entry.
func (r *reader) redirection(place int) {
	var redir Redirect
	if c := r.peek(0); c >= '0' && c <= '9' {
		redir.Fd = string(c)
		r.pos++
	}
	redir.Op = operators[slices.IndexFunc(operators, r.has)]
	r.pos += len(redir.Op)
	next := r.peek(0)
	switch {
	case strings.IndexByte("<>&|(!", next) >= 0 && next != 0:
		r.outside("the redirection %s%c", redir.Op, next)
	case (redir.Op[0] == '&' || redir.Op == "<<<") && r.shell == Dash:
		r.outside("the redirection %s, which dash does not know", redir.Op)
	case redir.Op == ">&" && (next < '0' || next > '9' || !ends(r.peek(1))):
		r.outside("the redirection >& to something else than a digit")
	}
	r.blanks()
	begin := r.pos
	switch c := r.peek(0); {
	case ends(c) && !r.has("<(") || c == '#':
		r.outside("a redirection without a target")
	case r.redirects():
		r.outside("a redirection whose target may be a descriptor")
	}
	if redir.Op == "<<" || redir.Op == "<<-" {
		r.hereDoc(place, redir)
		return
	}
	redir.Target = r.word(plainWord)
	if r.shell == Zsh {
		if strings.ContainsAny(r.text[begin:r.pos], "*?[") && !redir.Target.Known {
			r.outside("a glob as the target of a redirection")
		}
		if r.peek(0) == '>' || r.peek(0) == '<' {
			r.outside("a numeric glob of zsh")
		}
		for _, other := range r.out[place].Redirs {
			if fd(other) == fd(redir) {
				r.outside("two redirections of one descriptor, which zsh does both")
			}
		}
	}
	r.out[place].Redirs = append(r.out[place].Redirs, redir)
}

// fd is the descriptor of a redirection.
func fd(redir Redirect) string {
	switch {
	case redir.Fd != "":
		return redir.Fd
	case redir.Op[0] == '<':
		return "0"
	}
	return "1"
}

// hereDoc reads the delimiter of a here-document.
func (r *reader) hereDoc(place int, redir Redirect) {
	redir.Target = r.word(plainWord)
	text, raw := redir.Target.Text, redir.Target.Raw
	if !redir.Target.Known || text == "" || strings.Trim(text, nameBytes+"-.") != "" {
		r.outside("a here-document whose delimiter is not a plain word")
	}
	switch raw {
	case "'" + text + "'", `"` + text + `"`, `\` + text, text:
	default:
		r.outside("a here-document whose delimiter is quoted in part")
	}
	c := &r.out[place]
	c.Redirs = append(c.Redirs, redir)
	r.pending = append(r.pending, hereDoc{
		command: place, redir: len(c.Redirs) - 1, end: text, tabs: redir.Op == "<<-", plain: raw == text,
	})
}

// A hereDoc is a here-document whose body is still to come.
type hereDoc struct {
	command, redir int // where the body belongs
	end            string
	tabs           bool // <<-
	plain          bool // the delimiter was not quoted
}

// body reads the body of a here-document, whole lines up to its delimiter.
func (r *reader) body(doc hereDoc) {
	var b strings.Builder
	for {
		n := strings.IndexByte(r.text[r.pos:], '\n')
		last := n < 0
		if last {
			n = len(r.text) - r.pos
		}
		line := r.text[r.pos : r.pos+n]
		if doc.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == doc.end {
			r.pos += n
			if !last {
				r.pos++
			}
			r.out[doc.command].Redirs[doc.redir].Body = b.String()
			return
		}
		if last {
			r.outside("a here-document without its end %s", doc.end)
		}
		if r.inside > 0 && strings.HasPrefix(line, doc.end) { // for bash 5.2 it ends there if a parenthesis follows
			r.outside("a line of a here-document inside $(…) that begins with its end %s", doc.end)
		}
		if doc.plain && strings.ContainsAny(line, "$`\\") {
			r.outside("a here-document with expansions: quote its delimiter")
		}
		b.WriteString(line)
		b.WriteByte('\n')
		r.pos += n + 1
	}
}
