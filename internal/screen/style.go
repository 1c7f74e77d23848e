package screen

import (
	"fmt"
	"strconv"
	"strings"
)

// A Style is how a character is shown. Colours are "" for the terminal's own, 0 to 255 for one of its
// table, or #rrggbb.
type Style struct {
	Bold, Faint, Italic, Underline, Reverse bool
	Foreground, Background                  string
}

// apply changes the style as a sequence that ends in m says.
func (s *Style) apply(params string) {
	var codes []int
	for part := range strings.FieldsFuncSeq(params+" ", func(r rune) bool { return r == ';' || r == ':' }) {
		n, _ := strconv.Atoi(strings.TrimSpace(part)) // an empty one is 0
		codes = append(codes, n)
	}
	for i := 0; i < len(codes); i++ {
		switch c := codes[i]; {
		case c == 0:
			*s = Style{}
		case c == 1:
			s.Bold = true
		case c == 2:
			s.Faint = true
		case c == 3:
			s.Italic = true
		case c == 4:
			s.Underline = true
		case c == 7:
			s.Reverse = true
		case c == 22:
			s.Bold, s.Faint = false, false
		case c == 23:
			s.Italic = false
		case c == 24:
			s.Underline = false
		case c == 27:
			s.Reverse = false
		case c >= 30 && c <= 37:
			s.Foreground = strconv.Itoa(c - 30)
		case c >= 90 && c <= 97:
			s.Foreground = strconv.Itoa(c - 90 + 8)
		case c >= 40 && c <= 47:
			s.Background = strconv.Itoa(c - 40)
		case c >= 100 && c <= 107:
			s.Background = strconv.Itoa(c - 100 + 8)
		case c == 39:
			s.Foreground = ""
		case c == 49:
			s.Background = ""
		case c == 38 || c == 48:
			colour, used := colourOf(codes[i+1:])
			if i += used; c == 38 {
				s.Foreground = colour
			} else {
				s.Background = colour
			}
		}
	}
}

// colourOf reads what follows 38 or 48, and says how many numbers that are.
func colourOf(codes []int) (colour string, used int) {
	switch {
	case len(codes) >= 2 && codes[0] == 5:
		return strconv.Itoa(codes[1]), 2
	case len(codes) >= 4 && codes[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", codes[1], codes[2], codes[3]), 4
	}
	return "", len(codes)
}
