package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// A node is a value in a text of JSON that may have comments and trailing commas.
type node struct {
	kind       byte // one of { [ " and 0 for anything else
	start, end int
	members    []member // of an object
	items      []node   // of an array
}

type member struct {
	key   string
	start int // of the key
	value node
}

// member returns the value of a key, nil if there is none.
func (n *node) member(key string) *node {
	for i := range n.members {
		if n.members[i].key == key {
			return &n.members[i].value
		}
	}
	return nil
}

// children returns where the parts of an object or array begin and end.
func (n *node) children() (out [][2]int) {
	for _, m := range n.members {
		out = append(out, [2]int{m.start, m.value.end})
	}
	for _, i := range n.items {
		out = append(out, [2]int{i.start, i.end})
	}
	return out
}

// maxDepth is how deep settings are nested at most.
const maxDepth = 100

// A scanner reads the text.
type scanner struct {
	text []byte
	at   int
	// odd is what is there that is not JSON, and that some agents take all the same.
	odd []oddity
}

// An oddity is something that is not JSON, by what it is called and where it is.
type oddity struct {
	what string
	at   int
}

const (
	aByteOrderMark = "a byte order mark"
	aComment       = "a comment"
	aTrailingComma = "a comma after the last entry"
	byteOrderMark  = "\xef\xbb\xbf"
)

// parse reads a whole text: one object.
func parse(text []byte) (node, error) {
	n, _, err := parseOdd(text)
	return n, err
}

// parseOdd reads a whole text, and says what of it is not JSON.
func parseOdd(text []byte) (node, []oddity, error) {
	s := &scanner{text: text}
	n, err := s.whole()
	return n, s.odd, err
}

func (s *scanner) whole() (node, error) {
	text := s.text
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		s.at = len(byteOrderMark)
		s.odd = append(s.odd, oddity{aByteOrderMark, 0})
	}
	if !utf8.Valid(text) {
		return node{}, fmt.Errorf("it is not UTF-8")
	}
	n, err := s.value(0)
	if err == nil {
		err = s.blank()
	}
	if err == nil && s.at < len(text) {
		err = s.fault("there is more after the end")
	}
	if err == nil && n.kind != '{' {
		err = s.fault("it must be a JSON object")
	}
	return n, err
}

// fault says what is wrong, and where.
func (s *scanner) fault(format string, args ...any) error {
	at := min(s.at, len(s.text))
	line := 1 + bytes.Count(s.text[:at], []byte("\n"))
	column := at - bytes.LastIndexByte(s.text[:at], '\n')
	return fmt.Errorf("line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
}

// blank passes over white space and comments.
func (s *scanner) blank() error {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0:
			s.at++
		case bytes.HasPrefix(rest, []byte("//")):
			s.odd = append(s.odd, oddity{aComment, s.at})
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				s.at += i
			} else {
				s.at = len(s.text)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			s.odd = append(s.odd, oddity{aComment, s.at})
			i := bytes.Index(rest, []byte("*/"))
			if i < 0 {
				return s.fault("a comment has no end")
			}
			s.at += i + 2
		default:
			return nil
		}
	}
	return nil
}

// peek returns the next byte that is not blank, 0 at the end.
func (s *scanner) peek() (byte, error) {
	if err := s.blank(); err != nil || s.at >= len(s.text) {
		return 0, err
	}
	return s.text[s.at], nil
}

func (s *scanner) value(depth int) (node, error) {
	c, err := s.peek()
	if err != nil {
		return node{}, err
	}
	n := node{kind: c, start: s.at}
	switch {
	case depth > maxDepth:
		return n, s.fault("it is nested too deeply")
	case c == 0:
		return n, s.fault("it ends too early")
	case c == '{':
		err = s.object(&n, depth)
	case c == '[':
		err = s.array(&n, depth)
	case c == '"':
		_, err = s.quoted()
	default:
		n.kind = 0
		err = s.word()
	}
	n.end = s.at
	return n, err
}

func (s *scanner) object(n *node, depth int) error {
	return s.list('}', func() error {
		m := member{start: s.at}
		var err error
		if m.key, err = s.quoted(); err != nil {
			return err
		}
		if n.member(m.key) != nil {
			return s.fault("duplicate key %q", m.key)
		}
		if c, err := s.peek(); err != nil || c != ':' {
			return orFault(err, s.fault("a colon is missing after %q", m.key))
		}
		s.at++
		m.value, err = s.value(depth + 1)
		n.members = append(n.members, m)
		return err
	})
}

func orFault(err, fault error) error {
	if err != nil {
		return err
	}
	return fault
}

func (s *scanner) array(n *node, depth int) error {
	return s.list(']', func() error {
		item, err := s.value(depth + 1)
		n.items = append(n.items, item)
		return err
	})
}

// list reads parts with commas between them, and perhaps one after the last.
func (s *scanner) list(closing byte, part func() error) error {
	s.at++
	comma := -1
	for {
		c, err := s.peek()
		if err != nil {
			return err
		}
		if c == closing {
			if comma >= 0 {
				s.odd = append(s.odd, oddity{aTrailingComma, comma})
			}
			s.at++
			return nil
		}
		if err := part(); err != nil {
			return err
		}
		comma = -1
		c, err = s.peek()
		switch {
		case err != nil:
			return err
		case c == ',':
			comma = s.at
			s.at++
		case c != closing:
			return s.fault("a comma or %q is missing", string(closing))
		}
	}
}

// quoted reads a string and returns what it says.
func (s *scanner) quoted() (string, error) {
	start := s.at
	if c, err := s.peek(); err != nil || c != '"' {
		return "", orFault(err, s.fault("a quoted text is missing"))
	}
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			var out string
			if err := json.Unmarshal(s.text[start:s.at], &out); err != nil {
				s.at = start
				return "", s.fault("%v", err)
			}
			return out, nil
		}
	}
	s.at = start
	return "", s.fault("a text has no end")
}

// word reads a number, true, false or null.
func (s *scanner) word() error {
	start := s.at
	for s.at < len(s.text) && bytes.IndexByte([]byte(" \t\r\n,]}/:"), s.text[s.at]) < 0 {
		s.at++
	}
	if !json.Valid(s.text[start:s.at]) {
		s.at = start
		return s.fault("this is not JSON")
	}
	return nil
}
