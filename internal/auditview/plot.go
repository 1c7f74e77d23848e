package auditview

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/assent-dev/assent/present"
)

// A Style says what can be drawn: bars and sparklines are plain ASCII where the terminal knows
// no better, have no control characters but colours, and are never wider than it says. The zero
// Style is ASCII without colour, 80 columns wide.
type Style struct {
	Width   int  // in columns; 0 means 80
	Unicode bool // block characters may be used
	Colour  bool
}

// DetectStyle finds the style of a terminal of so many columns, 0 for what is none, from the
// environment: TERM, NO_COLOR, LC_ALL, LC_CTYPE and LANG.
func DetectStyle(columns int, getenv func(string) string) Style {
	s := Style{Width: columns}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			s.Unicode = strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
			break
		}
	}
	dumb := getenv("TERM") == "" || getenv("TERM") == "dumb"
	if columns > 0 && dumb {
		s.Unicode = false
	}
	s.Colour = columns > 0 && !dumb && getenv("NO_COLOR") == ""
	return s
}

func (s Style) width() int {
	if s.Width <= 0 {
		return 80
	}
	return s.Width
}

// paint colours the drawn part of a line.
func (s Style) paint(text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[36m" + text + "\x1b[0m"
}

// A bar is a number with a name.
type bar struct {
	label string
	value int64
	text  string // how the value is written; empty for the number itself
}

// eighths are the widths of the end of a bar.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// drawBars draws a line for each bar, the longest as long as there is room.
func drawBars(s Style, bars []bar) []string {
	labels, values, most := 0, 0, int64(1)
	for _, b := range bars {
		labels = max(labels, ansi.StringWidth(present.SafeLine(b.label)))
		values = max(values, ansi.StringWidth(b.number()))
		most = max(most, b.value)
	}
	labels = min(labels, max(8, s.width()/2))
	room := s.width() - labels - values - 4
	out := make([]string, len(bars))
	for i, b := range bars {
		gap := strings.Repeat(" ", 2+values-ansi.StringWidth(b.number()))
		line := fit(present.SafeLine(b.label), labels) + gap + b.number()
		if drawn := s.bar(b.value, most, room); drawn != "" {
			line += "  " + s.paint(drawn)
		}
		out[i] = ansi.Truncate(line, s.width(), "")
	}
	return out
}

func (b bar) number() string {
	if b.text != "" {
		return b.text
	}
	return fmt.Sprint(b.value)
}

// bar draws one bar; what is more than nothing is never invisible.
func (s Style) bar(value, most int64, room int) string {
	if value <= 0 || room < 1 {
		return ""
	}
	if !s.Unicode {
		return strings.Repeat("#", max(1, int(value*int64(room)/most)))
	}
	n := max(1, int(float64(value)/float64(most)*float64(room)*8))
	return strings.Repeat("█", n/8) + eighths[n%8]
}

// fit makes a label exactly n columns wide.
func fit(label string, n int) string {
	label = ansi.Truncate(label, n, "~")
	return label + strings.Repeat(" ", n-ansi.StringWidth(label))
}

var (
	heights = []rune("▁▂▃▄▅▆▇█")
	greys   = []rune(".:-=+*#@")
)

// spark draws the values side by side. Of more than there is room for, the last are drawn.
func spark(s Style, values []int64) string {
	if n := len(values) - s.width(); n > 0 {
		values = values[n:]
	}
	levels := greys
	if s.Unicode {
		levels = heights
	}
	most := int64(1)
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case v <= 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(levels[min(int64(len(levels))-1, v*int64(len(levels)-1)/most)])
		}
	}
	return s.paint(strings.TrimRight(b.String(), " "))
}
