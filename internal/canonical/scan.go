package canonical

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A scanner checks a JSON document and records where the members of its
// objects are, so that they can be written in order without building a tree.
type scanner struct {
	data      []byte
	pos       int
	root      int      // where the document's value starts
	canonical bool     // nothing seen so far would be written differently
	objects   []object // ordered by start, because they are recorded when they open
	members   []member // the members of each closed object, sorted by key
	open      []member // the members of the objects that are open
}

type object struct {
	start, first, n int
}

type member struct {
	key   []byte // decoded
	name  int    // where the key's text starts
	value int    // where the value starts
}

func (s *scanner) fail(err error, detail string) error {
	return &Error{Err: err, Offset: s.pos, Detail: detail}
}

func (s *scanner) document() error {
	s.canonical = true
	s.space()
	s.root = s.pos
	if s.peek() != '{' {
		if err := s.value(1); err != nil {
			return err
		}
		s.pos = s.root
		return s.fail(ErrNotAnObject, "")
	}
	if err := s.value(1); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.data) {
		return s.fail(ErrMalformedJSON, "text after the end of the arguments")
	}
	return nil
}

// peek returns the next byte, or 0 at the end; a 0 byte is legal nowhere.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
			s.canonical = false
		default:
			return
		}
	}
}

func (s *scanner) value(depth int) error {
	switch c := s.peek(); {
	case c == '{' || c == '[':
		if depth > MaxDepth {
			return s.fail(ErrTooDeep, "")
		}
		if c == '{' {
			return s.object(depth)
		}
		return s.array(depth)
	case c == '"':
		_, _, err := s.rawText()
		return err
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.fail(ErrMalformedJSON, "expected a value")
}

func (s *scanner) object(depth int) error {
	id, base := len(s.objects), len(s.open)
	s.objects = append(s.objects, object{start: s.pos})
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		if err := s.member(depth); err != nil {
			return err
		}
		more, err := s.next('}')
		if err != nil {
			return err
		}
		if !more {
			return s.close(id, base)
		}
	}
}

func (s *scanner) member(depth int) error {
	s.space()
	m := member{name: s.pos}
	if s.peek() != '"' {
		return s.fail(ErrMalformedJSON, "expected a key in quotes")
	}
	var err error
	if m.key, err = s.text(); err != nil {
		return err
	}
	s.space()
	if s.peek() != ':' {
		return s.fail(ErrMalformedJSON, `expected ":"`)
	}
	s.pos++
	s.space()
	m.value = s.pos
	s.open = append(s.open, m)
	return s.value(depth + 1)
}

// close sorts the members of the object that ends here and finds duplicates.
func (s *scanner) close(id, base int) error {
	ms := s.open[base:]
	byKey := func(a, b member) int { return bytes.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(ms, byKey) {
		s.canonical = false
		slices.SortStableFunc(ms, byKey)
	}
	for i := 1; i < len(ms); i++ {
		if bytes.Equal(ms[i-1].key, ms[i].key) {
			s.pos = max(ms[i-1].name, ms[i].name)
			return s.fail(ErrDuplicateKey, quoteShort(ms[i].key))
		}
	}
	s.objects[id].first, s.objects[id].n = len(s.members), len(ms)
	s.members = append(s.members, ms...)
	s.open = s.open[:base]
	return nil
}

func (s *scanner) array(depth int) error {
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.space()
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if more, err := s.next(']'); err != nil || !more {
			return err
		}
	}
}

// next reads the comma or the end after an element.
func (s *scanner) next(end byte) (more bool, err error) {
	s.space()
	switch s.peek() {
	case ',':
		s.pos++
		return true, nil
	case end:
		s.pos++
		return false, nil
	}
	return false, s.fail(ErrMalformedJSON, `expected "," or "`+string(end)+`"`)
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail(ErrMalformedJSON, "expected "+word)
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

func (s *scanner) digits() error {
	start := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	if s.pos == start {
		return s.fail(ErrMalformedJSON, "expected a digit")
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// text reads a string and returns it decoded. Without escapes the result is a
// part of the document, so that long contents are not copied.
func (s *scanner) text() ([]byte, error) {
	raw, escaped, err := s.rawText()
	if err != nil || !escaped {
		return raw, err
	}
	return unescape(raw), nil
}

// rawText reads a string and returns what stands between its quotes.
func (s *scanner) rawText() (raw []byte, escaped bool, err error) {
	s.pos++
	start := s.pos
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			s.canonical = s.canonical && !escaped
			return s.data[start : s.pos-1], escaped, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return nil, false, err
			}
		case c < 0x20:
			return nil, false, s.fail(ErrMalformedJSON, "a control character inside a string")
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n == 1 {
				return nil, false, s.fail(ErrInvalidUTF8, "")
			}
			s.pos += n
		}
	}
	return nil, false, s.fail(ErrMalformedJSON, "a string without its closing quote")
}

// escape checks one escape sequence. A surrogate must come in a pair: alone it
// has no character, and two different ones would be read as the same text.
func (s *scanner) escape() error {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		r, ok := hex4(s.data[s.pos+1:])
		switch {
		case !ok:
			return s.fail(ErrMalformedJSON, `expected four hex digits after \u`)
		case r < 0xd800 || r > 0xdfff:
			s.pos += 5
			return nil
		case r < 0xdc00 && lowSurrogate(s.data[s.pos+5:]):
			s.pos += 11
			return nil
		}
		return s.fail(ErrInvalidUTF8, "half of a surrogate pair")
	}
	return s.fail(ErrMalformedJSON, "an unknown escape")
}

func lowSurrogate(b []byte) bool {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return false
	}
	r, ok := hex4(b[2:])
	return ok && 0xdc00 <= r && r <= 0xdfff
}
