package terminal

import "strings"

// A style is what a piece of text is, not how it looks; a theme says that.
type style uint8

const (
	plain style = iota
	faint
	strong
	frame   // borders
	heading // the tool's name
	keycap  // a key that can be pressed
	good
	bad
	warn
	added
	removed
	addedWord
	removedWord
	hunkLine
	escape // made visible by present.Safe
	keyword
	literal
	number
	comment
	function
	caret // where typed text goes
)

// A theme says how styles look.
type theme uint8

const (
	noStyles   theme = iota // no escapes at all
	attributes              // bold, faint, underline, reverse; no colour
	colours                 // the sixteen colours of the terminal's own palette
)

// looks are the SGR parameters of each style: without and with colour. Only colours that
// can be read on light and on dark backgrounds are used, and none is set as a background.
var looks = [...][2]string{
	plain:       {"", ""},
	faint:       {"2", "2"},
	strong:      {"1", "1"},
	frame:       {"2", "2"},
	heading:     {"1", "1;36"},
	keycap:      {"1", "1;36"},
	good:        {"1", "32"},
	bad:         {"1", "31"},
	warn:        {"1", "1;35"},
	added:       {"", "32"},
	removed:     {"", "31"},
	addedWord:   {"7", "7;32"},
	removedWord: {"7", "7;31"},
	hunkLine:    {"2", "36"},
	escape:      {"7", "7;35"},
	keyword:     {"1", "35"},
	literal:     {"", "32"},
	number:      {"", "36"},
	comment:     {"2", "2"},
	function:    {"", "1"},
	caret:       {"7", "7"},
}

// A seg is a piece of safe text in one style; a line is what stands in one row.
type (
	seg struct {
		text  string
		style style
	}
	line []seg
)

func text(s string) line             { return line{{s, plain}} }
func styled(st style, s string) line { return line{{s, st}} }

// String returns the line without styles.
func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// paint writes the line as the theme wants it.
func (t theme) paint(b *strings.Builder, l line) {
	for _, s := range l {
		look := ""
		if t != noStyles {
			look = looks[s.style][t-1]
		}
		if look == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString("\x1b[" + look + "m")
		b.WriteString(s.text)
		b.WriteString("\x1b[m")
	}
}

// painted returns the lines with newlines between them.
func (t theme) painted(lines []line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.paint(&b, l)
	}
	return b.String()
}
