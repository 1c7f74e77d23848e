// Package screen is a small terminal for tests: it takes what a program sends and shows what a
// person would see.
package screen

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A Screen is a terminal with as much in it as bubbletea and the program use. Make one with
// [New].
type Screen struct {
	Title     string
	Bells     int
	Modes     map[string]bool // those that were switched on or off, by their number
	Keyboards int             // keyboard modes that were put on the stack and not taken off

	columns, height int
	rows            [][]Cell // every row there ever was; the last height of them are visible
	x, y            int      // y counts from the first row there ever was
	top             int      // the first visible row
	last            rune
	style           Style  // of what is written next
	rest            string // the begin of a sequence
	main            *page  // what is shown again when the other screen is left; nil while it is not used
}

// A page is what a screen shows, and where the cursor is.
type page struct {
	rows      [][]Cell
	x, y, top int
}

// A Cell is a character and how it is shown. The second half of a wide one is empty.
type Cell struct {
	Text  string
	Style Style
}

var blank = Cell{Text: " "}

// New returns an empty screen.
func New(columns, height int) *Screen {
	return &Screen{columns: columns, height: height, Modes: map[string]bool{}}
}

// Resize changes the width; what is there stays as it is.
func (s *Screen) Resize(columns int) { s.columns = columns }

// sequence matches a whole escape sequence: a control sequence with its parameters and
// its last byte, a string up to its end, or two or three bytes.
var sequence = regexp.MustCompile(`^\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]P_^X]([^\x07\x1b]*)(?:\x07|\x1b\\)|[ -/]*[0-Z\\-~])`)

// Draw takes what a program sent.
func (s *Screen) Draw(data string) {
	data = s.rest + data
	s.rest = ""
	for data != "" {
		if data[0] == 0x1b {
			m := sequence.FindStringSubmatch(data)
			if m == nil || len(m[0]) == 2 && strings.ContainsAny(m[0][1:], "[]P_^X") {
				s.rest = data
				return
			}
			s.escape(m)
			data = data[len(m[0]):]
			continue
		}
		if !utf8.FullRuneInString(data) {
			s.rest = data
			return
		}
		r, n := utf8.DecodeRuneInString(data)
		data = data[n:]
		s.char(r)
	}
}

func (s *Screen) char(r rune) {
	switch {
	case r == '\r':
		s.x = 0
	case r == '\n':
		s.down()
	case r == '\b':
		s.x = max(s.x-1, 0)
	case r == '\a':
		s.Bells++
	case r == '\t':
		s.x = min(s.x/8*8+8, s.columns-1)
	case r >= ' ':
		s.put(r)
	}
}

func (s *Screen) put(r rune) {
	width := ansi.StringWidth(string(r))
	if width == 0 {
		if s.x > 0 {
			s.row(s.y)[s.x-1].Text += string(r) // a mark on the character before
		}
		return
	}
	if s.x+width > s.columns {
		s.x = 0
		s.down()
	}
	row := s.row(s.y)
	row[s.x] = Cell{string(r), s.style}
	for i := 1; i < width; i++ {
		row[s.x+i] = Cell{Style: s.style}
	}
	s.x, s.last = s.x+width, r
}

func (s *Screen) row(y int) []Cell {
	for len(s.rows) <= y {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[y]) < s.columns {
		s.rows[y] = append(s.rows[y], blank)
	}
	return s.rows[y]
}

func (s *Screen) down() {
	s.y++
	s.top = max(s.top, s.y-s.height+1)
}

// escape takes a match of sequence.
func (s *Screen) escape(m []string) {
	switch {
	case strings.HasPrefix(m[0], "\x1b[") && !strings.ContainsAny(m[1], "<=>?"):
		s.control(m[1], m[2])
	case strings.HasPrefix(m[0], "\x1b["):
		s.private(m[1], m[2])
	case strings.HasPrefix(m[0], "\x1b]"):
		if kind, title, ok := strings.Cut(m[3], ";"); ok && (kind == "0" || kind == "2") {
			s.Title = title
		}
	case m[0] == "\x1bM":
		s.y = max(s.y-1, s.top)
	}
}

// private keeps what has to be put back at the end.
func (s *Screen) private(params, final string) {
	switch {
	case params[0] == '?' && (final == "h" || final == "l"):
		s.Modes[params[1:]] = final == "h"
		if params == "?1049" {
			s.other(final == "h")
		}
	case params[0] == '>' && final == "u":
		s.Keyboards++
	case params[0] == '<' && final == "u":
		s.Keyboards--
	}
}

// other changes to the other screen, which is empty, or back to what was there before.
func (s *Screen) other(on bool) {
	switch {
	case on && s.main == nil:
		s.main = &page{s.rows, s.x, s.y, s.top}
		s.rows, s.x, s.y, s.top = nil, 0, 0, 0
	case !on && s.main != nil:
		s.rows, s.x, s.y, s.top = s.main.rows, s.main.x, s.main.y, s.main.top
		s.main = nil
	}
}

// Clean reports whether the cursor is to be seen and nothing else is left switched on.
func (s *Screen) Clean() bool {
	for mode, on := range s.Modes {
		if cursor := mode == "25"; on != cursor {
			return false
		}
	}
	return s.Keyboards <= 0
}

func (s *Screen) control(params, final string) {
	parts := strings.Split(params, ";")
	arg := func(i, missing int) int {
		if i < len(parts) {
			if n, err := strconv.Atoi(parts[i]); err == nil && n > 0 {
				return n
			}
		}
		return missing
	}
	n := arg(0, 1)
	switch final {
	case "A":
		s.y = max(s.y-n, s.top)
	case "B":
		s.y = min(s.y+n, s.top+s.height-1)
	case "C":
		s.x = min(s.x+n, s.columns-1)
	case "D":
		s.x = max(s.x-n, 0)
	case "G", "`":
		s.x = n - 1
	case "d":
		s.y = s.top + n - 1
	case "H", "f":
		s.y, s.x = s.top+n-1, arg(1, 1)-1
	case "K":
		s.eraseLine(arg(0, 0))
	case "J":
		s.eraseScreen(arg(0, 0))
	case "X":
		for i := s.x; i < min(s.x+n, s.columns); i++ {
			s.row(s.y)[i] = blank
		}
	case "P":
		row := s.row(s.y)
		copy(row[s.x:], row[min(s.x+n, len(row)):])
		s.rows[s.y] = row[:max(len(row)-n, s.x)]
	case "b":
		for range n {
			s.put(s.last)
		}
	case "m":
		s.style.apply(params)
	case "L", "M":
		s.shift(final == "L", n)
	}
}

// shift puts in empty rows, or takes rows away.
func (s *Screen) shift(in bool, n int) {
	for range n {
		s.row(s.y)
		if in {
			s.rows = append(s.rows[:s.y], append([][]Cell{nil}, s.rows[s.y:]...)...)
		} else {
			s.rows = append(s.rows[:s.y], s.rows[s.y+1:]...)
		}
	}
}

func (s *Screen) eraseLine(how int) {
	row := s.row(s.y)
	for i := range row {
		if how == 2 || how == 0 && i >= s.x || how == 1 && i <= s.x {
			row[i] = blank
		}
	}
}

func (s *Screen) eraseScreen(how int) {
	if how == 0 {
		s.eraseLine(0)
		s.rows = s.rows[:s.y+1]
		return
	}
	s.rows = s.rows[:min(s.top, len(s.rows))]
}

// String is all that can be seen, and what scrolled away above it.
func (s *Screen) String() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(strings.TrimRight(text(row), " ") + "\n")
	}
	return b.String()
}

// Flat is the screen as one line: without frames, with one space where there are more or
// a row ends, and with rows joined that were only broken at the edge, so that text is
// found however it is wrapped.
func (s *Screen) Flat() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(text(row))
		if len(row) < s.columns || strings.Contains(" │┐┤┘", row[len(row)-1].Text) {
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "↳", " ").Replace(b.String())), " ")
}

// Visible are the rows that can be seen, each as wide as the screen.
func (s *Screen) Visible() [][]Cell {
	out := make([][]Cell, s.height)
	for i := range out {
		out[i] = slices.Clone(s.row(s.top + i))
	}
	return out
}

func text(row []Cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(c.Text)
	}
	return b.String()
}
