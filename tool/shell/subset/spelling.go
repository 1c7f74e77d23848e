package subset

import "strings"

// A Spelling gathers a [Word] in the form that readers share.
type Spelling struct {
	shape, text strings.Builder
	unknown     bool
	last        rune // the last character, if it was not quoted; '=' at the beginning
	open        int  // braces that are open
	braces      bool // there is a brace expansion
}

// NewSpelling returns that of an empty word.
func NewSpelling() *Spelling { return &Spelling{last: '='} }

// Quote notes that quotes begin: a word with empty quotes is there, even if it is empty.
func (s *Spelling) Quote() {
	s.shape.WriteString(`\"`)
	s.last = 0
}

// Quoted adds a character that means itself.
func (s *Spelling) Quoted(c rune) {
	if strings.ContainsRune("\\*?[]~{}$\"", c) {
		s.shape.WriteByte('\\')
	}
	s.plain(c)
	s.last = 0
}

func (s *Spelling) plain(c rune) {
	s.shape.WriteRune(c)
	s.text.WriteRune(c)
}

// Unquoted adds a character that may expand: a glob, a brace, or a ~ at the beginning of a word
// or after = and :, where some shells expand it.
func (s *Spelling) Unquoted(c rune) {
	switch c {
	case '~':
		if s.last != '=' && s.last != ':' {
			s.Quoted(c)
			return
		}
		s.unknown = true
	case '*', '?', '[', ']':
		s.unknown = true
	case '{':
		s.open++
	case '}':
		s.open--
	case ',', '.':
		if s.open > 0 && (c == ',' || s.last == '.') {
			s.braces, s.unknown = true, true
		}
	case '$', '"', '\\':
		s.Quoted(c)
		return
	}
	s.plain(c)
	s.last = c
}

// Expansion adds ${name, $() or $((…)).
func (s *Spelling) Expansion(shape string, quoted bool) {
	if quoted {
		s.shape.WriteByte('"')
	}
	s.shape.WriteString(shape)
	s.unknown = true
	s.last = 0
}

// Operator adds the operator of ${name:-word}; its word follows.
func (s *Spelling) Operator(op string) { s.shape.WriteString(op) }

// Close ends ${name.
func (s *Spelling) Close() {
	s.shape.WriteByte('}')
	s.last = 0
}

// Word is the word that was gathered.
func (s *Spelling) Word(raw string) Word {
	word := Word{Raw: raw, Known: !s.unknown || raw == "[" || raw == "]", Shape: s.shape.String()}
	if word.Known {
		word.Text = s.text.String()
	}
	return word
}
