// Package gitconfig reads the text of git's configuration.
package gitconfig

import (
	"bytes"
	"strings"
)

// A Setting is a line of a file: `core.hookspath`, and what it is set to.
type Setting struct{ Key, Value string }

// IsInclude reports whether the value is the name of another file, which git reads too:
// always, or under a condition.
func (s Setting) IsInclude() bool {
	return s.Key == "include.path" || strings.HasPrefix(s.Key, "includeif.") && strings.HasSuffix(s.Key, ".path")
}

// Parse reads the text of one file of git's configuration, as git does. Section
// and key are in lower case; a key without a value is true. ok is false for what git
// would refuse, and for a NUL, of which git keeps less than it reads.
func Parse(text []byte) (settings []Setting, ok bool) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, false
	}
	p := parser{rest: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))}
	for !p.atEnd() {
		if !p.item() {
			return nil, false
		}
	}
	return p.settings, true
}

// A parser walks over the text one character at a time. Behind the end there are
// newlines, so that nothing needs to ask for it.
type parser struct {
	rest     []byte
	section  []byte // with its subsection and a last dot
	settings []Setting
}

func (p *parser) atEnd() bool { return len(p.rest) == 0 }

// next takes a character; CR LF is one newline.
func (p *parser) next() byte {
	if len(p.rest) == 0 {
		return '\n'
	}
	c := p.rest[0]
	if c == '\r' && len(p.rest) > 1 && p.rest[1] == '\n' {
		c, p.rest = '\n', p.rest[1:]
	}
	p.rest = p.rest[1:]
	return c
}

// item reads one thing: a space, a comment, a section's name, or a setting.
func (p *parser) item() bool {
	switch c := p.next(); {
	case isSpace(c):
		return true
	case c == '#' || c == ';':
		p.comment()
		return true
	case c == '[':
		return p.header()
	case isLetter(c):
		return p.setting(c)
	}
	return false
}

func (p *parser) comment() {
	for p.next() != '\n' {
	}
}

// header reads what stands behind `[`: a name, perhaps with dots, or a name and a
// subsection in quotes.
func (p *parser) header() bool {
	p.section = nil
	for {
		switch c := p.next(); {
		case c == ']':
			p.section = append(p.section, '.')
			return len(p.section) > 1
		case c == ' ' || c == '\t' || c == '\r':
			return p.subsection()
		case !isKey(c) && c != '.':
			return false
		default:
			p.section = append(p.section, lower(c))
		}
	}
}

func (p *parser) subsection() bool {
	c := p.next()
	for c == ' ' || c == '\t' || c == '\r' {
		c = p.next()
	}
	if c != '"' {
		return false
	}
	p.section = append(p.section, '.')
	for c = p.next(); c != '"'; c = p.next() {
		if c == '\\' {
			c = p.next()
		}
		if c == '\n' {
			return false
		}
		p.section = append(p.section, c)
	}
	p.section = append(p.section, '.')
	return p.next() == ']'
}

// setting reads a key that begins with the letter, and its value.
func (p *parser) setting(first byte) bool {
	key := append(bytes.Clone(p.section), lower(first))
	c := p.next()
	for ; isKey(c); c = p.next() {
		key = append(key, lower(c))
	}
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	value, ok := "true", true
	if c != '\n' {
		if c != '=' {
			return false
		}
		value, ok = p.value()
	}
	p.settings = append(p.settings, Setting{Key: string(key), Value: value})
	return ok
}

// value reads up to the end of the line. Space around it is dropped, unless quoted;
// a backslash before the newline goes on with the next line.
func (p *parser) value() (value string, ok bool) {
	var text, space []byte
	quoted := false
	for {
		c := p.next()
		switch {
		case c == '\n':
			return string(text), !quoted
		case quoted && c != '"' && c != '\\':
			text = append(text, c)
			continue
		case isSpace(c):
			if len(text) > 0 {
				space = append(space, c)
			}
			continue
		case c == '#' || c == ';':
			p.comment()
			return string(text), true
		}
		text, space = append(text, space...), nil
		switch c {
		case '"':
			quoted = !quoted
		case '\\':
			if text, ok = p.escape(text); !ok {
				return "", false
			}
		default:
			text = append(text, c)
		}
	}
}

// escape reads what stands behind a backslash.
func (p *parser) escape(text []byte) ([]byte, bool) {
	switch c := p.next(); c {
	case '\n':
		return text, true
	case 't':
		return append(text, '\t'), true
	case 'b':
		return append(text, '\b'), true
	case 'n':
		return append(text, '\n'), true
	case '\\', '"':
		return append(text, c), true
	}
	return text, false
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isLetter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }
func isKey(c byte) bool    { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
