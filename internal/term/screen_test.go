package term

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// screen is a small terminal: enough of one to see what bubbletea draws.
type screen struct {
	columns int
	rows    [][]string // every row there ever was; the last height of them are visible
	height  int
	x, y    int // y counts from the first row there ever was
	top     int // the first visible row
	title   string
	bells   int
	last    string
	rest    string
}

func newScreen(columns, height int) *screen {
	return &screen{columns: columns, height: height}
}

func (s *screen) row(y int) []string {
	for len(s.rows) <= y {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[y]) < s.columns {
		s.rows[y] = append(s.rows[y], " ")
	}
	return s.rows[y]
}

// write draws what a program sent.
func (s *screen) write(data string) {
	data = s.rest + data
	s.rest = ""
	for data != "" {
		seq, width, n, state := ansi.GraphemeWidth.DecodeSequenceInString(data, 0, nil)
		if state != 0 && n == len(data) || !strings.HasSuffix(data, "\n") && len(data) < 8 && data[0] == 0x1b && n == len(data) && unfinished(seq) {
			s.rest = data
			return
		}
		data = data[n:]
		if width > 0 {
			s.put(seq, width)
		} else {
			s.control(seq)
		}
	}
}

func unfinished(seq string) bool {
	last := seq[len(seq)-1]
	return seq == "\x1b" || strings.HasPrefix(seq, "\x1b[") && (len(seq) == 2 || last < 0x40)
}

func (s *screen) put(char string, width int) {
	if s.x+width > s.columns {
		s.x = 0
		s.down()
	}
	row := s.row(s.y)
	row[s.x] = char
	for i := 1; i < width; i++ {
		row[s.x+i] = ""
	}
	s.x, s.last = s.x+width, char
}

func (s *screen) down() {
	s.y++
	s.top = max(s.top, s.y-s.height+1)
}

func (s *screen) control(seq string) {
	switch {
	case seq == "\r":
		s.x = 0
	case seq == "\n":
		s.down()
	case seq == "\b":
		s.x = max(s.x-1, 0)
	case seq == "\a":
		s.bells++
	case seq == "\t":
		s.x = min(s.x/8*8+8, s.columns-1)
	case strings.HasPrefix(seq, "\x1b]2;"):
		s.title = strings.TrimRight(seq[4:], "\a\x1b\\")
	case strings.HasPrefix(seq, "\x1b["):
		s.csi(seq[2:len(seq)-1], seq[len(seq)-1])
	case seq == "\x1bM":
		s.y = max(s.y-1, s.top)
	}
}

func (s *screen) csi(params string, final byte) {
	if strings.ContainsAny(params, "?><=$ ") {
		return
	}
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
	case 'A':
		s.y = max(s.y-n, s.top)
	case 'B':
		s.y = min(s.y+n, s.top+s.height-1)
	case 'C':
		s.x = min(s.x+n, s.columns-1)
	case 'D':
		s.x = max(s.x-n, 0)
	case 'G', '`':
		s.x = n - 1
	case 'd':
		s.y = s.top + n - 1
	case 'H', 'f':
		s.y, s.x = s.top+n-1, arg(1, 1)-1
	case 'K':
		s.eraseLine(arg(0, 0))
	case 'J':
		s.eraseScreen(arg(0, 0))
	case 'X':
		for i := s.x; i < min(s.x+n, s.columns); i++ {
			s.row(s.y)[i] = " "
		}
	case 'P':
		row := s.row(s.y)
		copy(row[s.x:], row[min(s.x+n, len(row)):])
		s.rows[s.y] = row[:max(len(row)-n, s.x)]
	case 'L':
		for range n {
			s.row(s.y)
			s.rows = append(s.rows[:s.y], append([][]string{nil}, s.rows[s.y:]...)...)
		}
	case 'M':
		for range n {
			s.row(s.y)
			s.rows = append(s.rows[:s.y], s.rows[s.y+1:]...)
		}
	case 'b':
		for range n {
			s.put(s.last, ansi.StringWidth(s.last))
		}
	}
}

func (s *screen) eraseLine(how int) {
	row := s.row(s.y)
	for i := range row {
		if how == 2 || how == 0 && i >= s.x || how == 1 && i <= s.x {
			row[i] = " "
		}
	}
}

func (s *screen) eraseScreen(how int) {
	if how == 0 {
		s.eraseLine(0)
		s.rows = s.rows[:s.y+1]
		return
	}
	s.rows = s.rows[:s.top]
}

// String is what can be seen, and what scrolled away above it.
func (s *screen) String() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	return b.String()
}
