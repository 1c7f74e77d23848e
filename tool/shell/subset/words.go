package subset

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A position says where a word stands.
type position int

const (
	plainWord   position = iota
	valueWord            // of an assignment: it may be empty
	patternWord          // of case or [[
)

// word reads a word.
func (r *reader) word(where position) Word {
	begin := r.pos
	s := NewSpelling()
	if r.has("<(") {
		r.process(s)
	}
	if r.peek(0) == '#' && where != valueWord {
		r.outside("a # that may begin a comment")
	}
	for !ends(r.peek(0)) {
		r.unquoted(s)
	}
	raw := r.text[begin:r.pos]
	switch c := r.peek(0); {
	case c == '(' && where != patternWord:
		r.outside("a parenthesis in or after a word")
	case (c == '<' || c == '>') && raw != "" && strings.IndexByte("0123456789}", raw[len(raw)-1]) >= 0:
		r.outside("a redirection right after a digit or brace")
	case r.has("&>") && raw != "":
		r.outside("a word right before &>")
	case r.has("<("):
		r.outside("text right before or after <(…)")
	case s.open != 0:
		r.outside("an unmatched {")
	case s.braces && r.shell == Dash:
		r.outside("a brace expansion, which dash does not know")
	case len(r.pending) > 0 && strings.Contains(raw, "\n"):
		r.outside("a here-document whose body does not begin in the next line")
	}
	return s.Word(raw)
}

// pattern reads a word of case or [[, where braces do not expand.
func (r *reader) pattern() Word {
	word := r.word(patternWord)
	if strings.Contains(word.Raw, "{") && !word.Known || r.peek(0) == '<' || r.peek(0) == '>' || r.peek(0) == '(' {
		r.outside("a pattern that is not plain")
	}
	return word
}

// process reads <(…), which is a word by itself.
func (r *reader) process(s *Spelling) {
	if r.shell == Dash {
		r.outside("<(, which dash does not know")
	}
	if r.peek(2) == '(' {
		r.outside("<((")
	}
	s.Expansion("<()", false)
	r.pos++
	r.enclose("<(")
	if !ends(r.peek(0)) {
		r.outside("text right before or after <(…)")
	}
}

// unquoted reads the next character, quote or expansion of a word.
func (r *reader) unquoted(s *Spelling) {
	c := r.peek(0)
	switch c {
	case '\'':
		n := strings.IndexByte(r.text[r.pos+1:], '\'')
		if n < 0 {
			r.outside("an unclosed '")
		}
		s.Quote()
		for _, c := range r.text[r.pos+1 : r.pos+1+n] {
			s.Quoted(c)
		}
		r.pos += n + 2
		return
	case '"':
		r.pos++
		s.Quote()
		r.double(s)
		return
	case '`':
		r.outside("a backquote")
	case '$':
		r.dollar(s, false)
		return
	case '\\':
		if next := r.peek(1); next == 0 || next == '\n' {
			r.outside("a continued line without a blank before the backslash")
		}
		r.pos++
		s.Quoted(r.rune())
		return
	case '~', '=':
		if r.shell == Zsh {
			r.sign(s, c)
		}
	case '}':
		if s.open == 0 {
			r.outside("an unmatched }")
		}
	}
	char := r.rune()
	if char >= utf8.RuneSelf && !unicode.In(char, unicode.L, unicode.N, unicode.M) {
		r.outside("the unquoted character U+%04X", char)
	}
	s.Unquoted(char)
}

// sign refuses what zsh reads as ~name or =command: at the beginning of a word also behind
// what is or may be empty, after a colon, and in braces.
func (r *reader) sign(s *Spelling, c byte) {
	next := r.peek(1)
	first := s.text.Len() == 0
	switch {
	case s.open > 0, first && s.shape.Len() > 0, c == '=' && s.last == ':':
		r.outside("a %c that zsh may expand", c)
	case c == '=' && first && !ends(next):
		r.outside("=command of zsh")
	case c == '~' && (s.last == '=' || s.last == ':') && next != '/' && !ends(next):
		r.outside("a named folder of zsh")
	}
}

func (r *reader) rune() rune {
	c, size := utf8.DecodeRuneInString(r.text[r.pos:])
	r.pos += size
	return c
}

// double reads the rest of a double-quoted string.
func (r *reader) double(s *Spelling) {
	for {
		switch c := r.peek(0); c {
		case 0:
			r.outside(`an unclosed "`)
		case '"':
			r.pos++
			return
		case '`':
			r.outside("a backquote")
		case '$':
			r.dollar(s, true)
		case '\\':
			switch next := r.peek(1); next {
			case '$', '"', '\\', '`':
				s.Quoted(rune(next))
				r.pos += 2
			case '\n':
				if !isBlank(r.peek(-1)) {
					r.outside("a continued line without a blank before the backslash")
				}
				r.pos += 2
			default:
				s.Quoted('\\')
				r.pos++
			}
		default:
			s.Quoted(r.rune())
		}
	}
}

// dollar reads what begins with $.
func (r *reader) dollar(s *Spelling, quoted bool) {
	r.pos++
	if name := r.name(); name != "" {
		if r.shell == Zsh && r.peek(0) >= utf8.RuneSelf {
			r.outside("$%s with a letter behind it that zsh may add to the name", name)
		}
		r.subscript(name)
		r.used(name, quoted)
		s.Expansion("${"+name+"}", quoted)
		return
	}
	next := r.peek(0)
	switch {
	case next == '{':
		r.parameter(s, quoted)
	case next == '(' && r.peek(1) == '(':
		r.arithmetic(s, quoted)
	case next == '(':
		s.Expansion("$()", quoted)
		r.enclose("$(")
	case next != 0 && strings.IndexByte("?!#$@*-0123456789", next) >= 0:
		r.pos++
		if c := r.peek(0); next >= '0' && next <= '9' && c >= '0' && c <= '9' {
			r.outside("$%c%c, which shells read differently", next, c)
		} else if next == '#' && r.shell == Zsh && !ends(c) && c != '"' {
			r.outside("$# with something after it")
		}
		r.subscript("$" + string(next))
		r.used(string(next), quoted)
		s.Expansion("${"+string(next)+"}", quoted)
	case quoted && next != 0 && strings.IndexByte("\" \t\n/,.;:%|)", next) >= 0, !quoted &&
		(next == 0 || strings.IndexByte(" \t\n", next) >= 0):
		s.Quoted('$')
	case next == 0:
		r.outside(`an unclosed "`)
	default:
		r.outside("$%c", next)
	}
}

// used notes a variable that is used without quotes. All parameters of the shell are one.
func (r *reader) used(name string, quoted bool) {
	if r.shell != Zsh || quoted {
		return
	}
	if !isName(name[0]) {
		name = "1"
	}
	r.bare[name] = true
}

// subscript refuses what zsh takes for an element of a variable.
func (r *reader) subscript(of string) {
	if r.shell == Zsh && r.peek(0) == '[' {
		r.outside("%s[, an element for zsh", of)
	}
}

// enclose reads the commands of $(…) or <(…), from the parenthesis. Bash 5.2 prints what it
// read there and runs that text, and loses separators after a here-document.
func (r *reader) enclose(token string) {
	outer := r.pending
	r.pending = nil
	r.token(token)
	r.pos++
	begin, first := r.pos, len(r.out)
	r.inside++
	if end := r.list(); end != ")" {
		r.outside("a missing )")
	}
	r.inside--
	for _, c := range r.out[first:] {
		for _, redir := range c.Redirs {
			if strings.HasPrefix(redir.Op, "<<") && redir.Op != "<<<" && len(r.out)-first > 1 {
				r.outside("a here-document beside other commands inside %s…)", token)
			}
		}
	}
	r.token(")")
	r.pos++
	r.enclosed(begin, outer)
}

// arithmetic reads $((…)) of names, numbers and + - * / %.
func (r *reader) arithmetic(s *Spelling, quoted bool) {
	n := strings.Index(r.text[r.pos:], "))")
	if n < 0 {
		r.outside("an unclosed $((")
	}
	inner := strings.Trim(r.text[r.pos+2:r.pos+n], " ")
	plain := strings.ReplaceAll(inner, "$", "")
	if plain == "" || strings.Trim(plain, nameBytes+"+-*/% ") != "" {
		r.outside("$((…)) with more than names, numbers and + - * / %%")
	}
	for i := range len(inner) { // $name and ${name} only
		if inner[i] == '$' && (i+1 == len(inner) || !isName(inner[i+1])) {
			r.outside("$((…)) with more than names, numbers and + - * / %%")
		}
	}
	r.number = r.number || strings.Trim(inner, "0123456789+-*/% ") != ""
	s.Expansion("$(("+strings.ReplaceAll(inner, " ", "")+"))", quoted)
	r.pos += n + 2
}

// nameBytes are those of names.
const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// isName reports whether a name may begin with a byte.
func isName(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// parameterOperators are those of ${name…}, longest first.
var parameterOperators = []string{":-", ":=", ":+", ":?", "-", "=", "+", "?", "%%", "%", "##", "#", "//", "/", "^^",
	"^", ",,", ","}

// parameter reads ${name}, ${#name} and ${name:-word} with its kin.
func (r *reader) parameter(s *Spelling, quoted bool) {
	r.pos++
	length := ""
	if r.peek(0) == '#' {
		length = "#"
		r.pos++
	}
	name := r.name()
	if c := r.peek(0); name == "" && c >= '0' && c <= '9' {
		for c := r.peek(0); c >= '0' && c <= '9'; c = r.peek(0) {
			name += string(c)
			r.pos++
		}
	} else if name == "" && length == "" && (c == '@' || c == '*' || c == '?') && r.peek(1) == '}' {
		name = string(c)
		r.pos++
	}
	if name == "" {
		r.outside("${ without a plain name")
	}
	r.used(name, quoted)
	s.Expansion("${"+length+name, quoted)
	if r.peek(0) == '}' {
		s.Close()
		r.pos++
		r.subscript("${…}")
		return
	}
	rest, _, closed := strings.Cut(r.text[r.pos:], "}")
	if !closed {
		r.outside("an unclosed ${%s", name)
	}
	if r.shell == Bash && elements.MatchString(rest) || length == "" && r.shell != Dash && sections.MatchString(rest) {
		s.Operator(rest)
		s.Close()
		r.pos += len(rest) + 1
		r.subscript("${…}")
		return
	}
	for _, op := range parameterOperators {
		if length == "" && r.has(op) {
			slashes := strings.Count(strings.ReplaceAll(rest[len(op):], `\/`, ""), "/")
			if of := op[0]; of == '/' && (r.shell == Dash || slashes != 1) ||
				(of == '^' || of == ',') && (r.shell != Bash || rest != op) {
				break
			}
			r.pos += len(op)
			s.Operator(op)
			r.operand(s, quoted, strings.ContainsAny(op, "%#/"))
			return
		}
	}
	r.outside("${%s%.1s", name, rest)
}

// Elements of arrays, and parts of values, that are numbers.
var (
	elements = regexp.MustCompile(`^\[([0-9]+|@|\*)\]$`)
	sections = regexp.MustCompile(`^:[0-9]+(:[0-9]+)?$`)
)

// operand reads the word in ${name:-word}.
func (r *reader) operand(s *Spelling, quoted, pattern bool) {
	for {
		switch c := r.peek(0); {
		case c == '}':
			s.Close()
			r.pos++
			r.subscript("${…}")
			return
		case c == '=' && r.shell == Zsh:
			r.outside("a = that zsh may expand")
		case c == '$':
			r.dollar(s, quoted)
		case pattern && c == '\\' && r.peek(1) == '/':
			s.Quoted('/')
			r.pos += 2
		case pattern && (c == '*' || c == '?'):
			s.Unquoted(rune(c))
			r.pos++
		case isName(c) || c >= '0' && c <= '9' || c != 0 && strings.IndexByte(" -./,:+%@=", c) >= 0:
			s.Quoted(rune(c))
			r.pos++
		default:
			r.outside("%q in ${…}", string(c))
		}
	}
}
