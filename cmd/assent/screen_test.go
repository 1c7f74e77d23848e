package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// screen is a terminal with as much in it as the program uses. Every character is one
// cell wide.
type screen struct {
	columns, height int
	rows            [][]rune // every row there ever was; the last height of them are visible
	x, y            int      // y counts from the first row there ever was
	top             int      // the first visible row
	last            rune
	title           string
	bells           int
	modes           map[string]bool // those that were switched on or off, by their number
	keyboards       int             // keyboard modes that were put on the stack and not taken off
	rest            string          // the begin of a sequence
}

func newScreen(columns, height int) *screen {
	return &screen{columns: columns, height: height, modes: map[string]bool{}}
}

// sequence matches a whole escape sequence: a control sequence with its parameters and
// its last byte, a string up to its end, or two or three bytes.
var sequence = regexp.MustCompile(`^\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]P_^X]([^\x07\x1b]*)(?:\x07|\x1b\\)|[ -/]*[0-Z\\-~])`)

// write draws what a program sent.
func (s *screen) write(data string) {
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

func (s *screen) char(r rune) {
	switch {
	case r == '\r':
		s.x = 0
	case r == '\n':
		s.down()
	case r == '\b':
		s.x = max(s.x-1, 0)
	case r == '\a':
		s.bells++
	case r == '\t':
		s.x = min(s.x/8*8+8, s.columns-1)
	case r >= ' ':
		s.put(r)
	}
}

func (s *screen) put(r rune) {
	if s.x >= s.columns {
		s.x = 0
		s.down()
	}
	s.row(s.y)[s.x] = r
	s.x, s.last = s.x+1, r
}

func (s *screen) row(y int) []rune {
	for len(s.rows) <= y {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[y]) < s.columns {
		s.rows[y] = append(s.rows[y], ' ')
	}
	return s.rows[y]
}

func (s *screen) down() {
	s.y++
	s.top = max(s.top, s.y-s.height+1)
}

// escape takes a match of sequence.
func (s *screen) escape(m []string) {
	switch {
	case strings.HasPrefix(m[0], "\x1b[") && !strings.ContainsAny(m[1], "<=>?"):
		s.control(m[1], m[2])
	case strings.HasPrefix(m[0], "\x1b["):
		s.private(m[1], m[2])
	case strings.HasPrefix(m[0], "\x1b]"):
		if kind, title, ok := strings.Cut(m[3], ";"); ok && (kind == "0" || kind == "2") {
			s.title = title
		}
	case m[0] == "\x1bM":
		s.y = max(s.y-1, s.top)
	}
}

// private keeps what has to be put back at the end.
func (s *screen) private(params, final string) {
	switch {
	case params[0] == '?' && (final == "h" || final == "l"):
		s.modes[params[1:]] = final == "h"
	case params[0] == '>' && final == "u":
		s.keyboards++
	case params[0] == '<' && final == "u":
		s.keyboards--
	}
}

// clean reports whether the cursor is to be seen and nothing else is left switched on.
func (s *screen) clean() bool {
	for mode, on := range s.modes {
		if cursor := mode == "25"; on != cursor {
			return false
		}
	}
	return s.keyboards <= 0
}

func (s *screen) control(params, final string) {
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
			s.row(s.y)[i] = ' '
		}
	case "P":
		row := s.row(s.y)
		copy(row[s.x:], row[min(s.x+n, len(row)):])
		s.rows[s.y] = row[:max(len(row)-n, s.x)]
	case "b":
		for range n {
			s.put(s.last)
		}
	case "L", "M":
		s.shift(final == "L", n)
	}
}

// shift puts in empty rows, or takes rows away.
func (s *screen) shift(in bool, n int) {
	for range n {
		s.row(s.y)
		if in {
			s.rows = append(s.rows[:s.y], append([][]rune{nil}, s.rows[s.y:]...)...)
		} else {
			s.rows = append(s.rows[:s.y], s.rows[s.y+1:]...)
		}
	}
}

func (s *screen) eraseLine(how int) {
	row := s.row(s.y)
	for i := range row {
		if how == 2 || how == 0 && i >= s.x || how == 1 && i <= s.x {
			row[i] = ' '
		}
	}
}

func (s *screen) eraseScreen(how int) {
	if how == 0 {
		s.eraseLine(0)
		s.rows = s.rows[:s.y+1]
		return
	}
	s.rows = s.rows[:min(s.top, len(s.rows))]
}

// String is all that can be seen, and what scrolled away above it.
func (s *screen) String() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}

// flat is the screen as one line: without frames, with one space where there are more or
// a row ends, and with rows joined that were only broken at the edge, so that text is
// found however it is wrapped.
func (s *screen) flat() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(string(row))
		if len(row) < s.columns || strings.ContainsRune(" │┐┤┘", row[len(row)-1]) {
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "↳", " ").Replace(b.String())), " ")
}
