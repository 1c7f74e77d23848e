package programs

import "strings"

// lex cuts the program into tokens. It returns false where it cannot be sure: a
// slash behind a parenthesis may divide, or begin a regular expression.
func (p *awkProgram) lex(text string) bool {
	for i := 0; i < len(text); {
		n, ok := p.token(text[i:])
		if !ok {
			return false
		}
		i += n
	}
	return true
}

// token takes one token off the front and returns its length.
func (p *awkProgram) token(s string) (int, bool) {
	c := s[0]
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		return 1, true
	case c == '\n':
		return p.add('\n', "\n"), true
	case c == '\\':
		return 2, strings.HasPrefix(s, "\\\n")
	case c == '#':
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end, true
		}
		return len(s), true
	case c == '"':
		return p.quoted(s)
	case c == '/':
		return p.slash(s)
	case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z':
		n := 1
		for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] >= '0' && s[n] <= '9') {
			n++
		}
		return p.add('a', s[:n]), true
	case c >= '0' && c <= '9':
		return p.add('0', s[:1]), true
	}
	for _, op := range []string{"||", "|&", ">>", ">="} {
		if strings.HasPrefix(s, op) {
			return p.add('o', op), true
		}
	}
	return p.add('o', s[:1]), true
}

func (p *awkProgram) add(kind byte, text string) int {
	p.tokens = append(p.tokens, awkToken{kind, text})
	return len(text)
}

// quoted takes a string.
func (p *awkProgram) quoted(s string) (int, bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			p.add('"', s[1:i])
			return i + 1, true
		case '\\':
			i++
		case '\n':
			return 0, false
		}
	}
	return 0, false
}

// slash takes a regular expression, or a division.
func (p *awkProgram) slash(s string) (int, bool) {
	if n := len(p.tokens); n > 0 {
		last := p.tokens[n-1]
		switch {
		case last.text == ")" && last.kind == 'o':
			return 0, false
		case last.kind == '0', last.kind == '"', last.kind == 'a' && !awkKeyword(last.text),
			last.kind == 'o' && (last.text == "]" || last.text == "$"):
			return p.add('o', "/"), true
		case last.kind == 'o' && (last.text == "+" || last.text == "-"):
			return 0, false // x++ / y, or x + /re/
		}
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '/':
			p.add('/', s[1:i])
			return i + 1, true
		case '\\':
			i++
		case '[':
			return p.bracketed(s, i)
		case '\n':
			return 0, false
		}
	}
	return 0, false
}

// bracketed goes on in a regular expression at a bracket. awks differ in whether
// it hides a slash, so there must be none in it.
func (p *awkProgram) bracketed(s string, i int) (int, bool) {
	inside, first := true, i+1
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n':
			return 0, false
		case c == '\\':
			i++
		case inside && c == '^' && i == first:
			first++
		case inside && c == ']' && i > first:
			inside = false
		case !inside && c == '[':
			inside, first = true, i+1
		case c == '/' && inside:
			return 0, false
		case c == '/':
			p.add('/', s[1:i])
			return i + 1, true
		}
	}
	return 0, false
}

// awkKeyword reports whether a name is none of a value.
func awkKeyword(name string) bool {
	switch name {
	case "print", "printf", "return", "in", "if", "else", "while", "do", "for", "case", "BEGIN", "END":
		return true
	}
	return false
}
