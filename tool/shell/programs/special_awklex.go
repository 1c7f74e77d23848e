package programs

import "strings"

// lex cuts the program into tokens. It returns false where awks may differ: a slash that may
// divide or begin a regular expression, a bracket that may hide one, a comment that another
// reading would take for more.
func (p *awkProgram) lex(text string) bool {
	if !plainText(text) {
		return false
	}
	for i := 0; i < len(text); {
		n, ok := p.token(text[i:])
		if !ok {
			return false
		}
		i += n
	}
	return !p.slash || p.dividesPlainly()
}

// dividesPlainly reports whether a program that divides would be as harmless if another awk
// took a slash for a regular expression, and so code for text and text for code.
func (p *awkProgram) dividesPlainly() bool {
	for _, t := range p.tokens {
		if (t.kind == '/' || t.kind == '"') && (!awkHarmless(t.text) || strings.ContainsAny(t.text, `/>#"`)) {
			return false
		}
	}
	return true
}

// token takes one token off the front and returns its length.
func (p *awkProgram) token(s string) (int, bool) {
	c := s[0]
	switch {
	case c == ' ' || c == '\t':
		return 1, true
	case c == '\n':
		return p.add('\n', "\n"), true
	case c == '#':
		comment, _, _ := strings.Cut(s, "\n")
		return len(comment), plainWords(comment[1:], " ,:;'=()") && !strings.Contains(comment, "/")
	case c == '"':
		return p.quoted(s)
	case c == '/':
		return p.divided(s)
	case c == '_' || letter(c):
		n := 1
		for n < len(s) && (s[n] == '_' || letter(s[n]) || digit(s[n])) {
			n++
		}
		return p.add('a', s[:n]), true
	case digit(c):
		n := 1
		for n < len(s) && (digit(s[n]) || s[n] == '.') {
			n++
		}
		// What follows would be part of the number in this or that awk.
		return p.add('0', s[:n]), n == len(s) || s[n] != '_' && !letter(s[n])
	}
	for _, op := range []string{"||", "&&", ">>", ">=", "<=", "==", "!="} {
		if strings.HasPrefix(s, op) {
			return p.add('o', op), true
		}
	}
	switch c {
	case '(', '[':
		p.depth++
	case ')', ']':
		p.depth--
	}
	return p.add('o', s[:1]), strings.IndexByte("+-*%^=<>!~?:,;()[]{}$|", c) >= 0 && !strings.HasPrefix(s, "|&")
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
			if i++; i < len(s) && (s[i] == '\n' || s[i] >= 0x80) {
				return 0, false
			}
		case '\n':
			return 0, false
		}
	}
	return 0, false
}

// divided takes a regular expression where only an operand can stand, and a division behind
// one where only an operator can. In any other place it is not certain which it is.
func (p *awkProgram) divided(s string) (int, bool) {
	last := awkToken{kind: '\n'}
	if n := len(p.tokens); n > 0 {
		last = p.tokens[n-1]
	}
	switch {
	case last.kind == '\n' && p.depth <= 0,
		last.kind == 'o' && strings.Contains(" { } ; ( , ! ~ && || ", " "+last.text+" "):
		return p.regexp(s)
	case last.kind == '0', last.kind == 'o' && last.text == "]", last.kind == 'a' && awkVariable(last.text):
		p.slash = true
		return p.add('o', "/"), !strings.HasPrefix(s, "/=")
	}
	return 0, false
}

// awkVariable reports whether a name is not one of the language.
func awkVariable(name string) bool {
	switch name {
	case "NR", "NF", "FNR":
		return true
	case "BEGIN", "END", "BEGINFILE", "ENDFILE", "next", "nextfile", "break", "continue", "default", "function", "func", "system":
		return false
	}
	for _, word := range awkFunctions {
		if name == word {
			return false
		}
	}
	return true
}

// regexp takes a regular expression.
func (p *awkProgram) regexp(s string) (int, bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '/':
			p.add('/', s[1:i])
			return i + 1, i > 1
		case '\\':
			if i++; i < len(s) && (s[i] == '\n' || s[i] >= 0x80) {
				return 0, false
			}
		case '[':
			n := bracket(s[i:], '/')
			if n == 0 {
				return 0, false
			}
			i += n - 1
		case '\n':
			return 0, false
		}
	}
	return 0, false
}
