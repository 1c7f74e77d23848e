package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// tabWidth is where the next column of tabs begins.
const tabWidth = 4

// width returns how many cells s takes.
func width(s string) int { return ansi.StringWidth(s) }

func (l line) width() int {
	n := 0
	for _, s := range l {
		n += width(s.text)
	}
	return n
}

// shorten returns s within n cells, with … for what is missing.
func shorten(s string, n int) string {
	if width(s) <= n {
		return s
	}
	return ansi.Truncate(s, max(n, 0), "…")
}

// A cell is one character with its marks, as the terminal draws it.
type cell struct {
	text  string
	width int
	style style
}

// cells splits a line into characters. A tab becomes spaces up to the next column.
func cells(l line) []cell {
	var out []cell
	column := 0
	for _, s := range l {
		for rest := s.text; rest != ""; {
			if rest[0] == '\t' {
				n := tabWidth - column%tabWidth
				for range n {
					out = append(out, cell{" ", 1, s.style})
				}
				column, rest = column+n, rest[1:]
				continue
			}
			char, w, n, _ := ansi.GraphemeWidth.DecodeSequenceInString(rest, 0, nil)
			if n == 0 {
				break
			}
			out = append(out, cell{char, w, s.style})
			column, rest = column+w, rest[n:]
		}
	}
	return out
}

// uncells joins neighbours of the same style.
func uncells(cs []cell) line {
	var out line
	var b strings.Builder
	for i, c := range cs {
		b.WriteString(c.text)
		if i+1 == len(cs) || cs[i+1].style != c.style {
			out = append(out, seg{b.String(), c.style})
			b.Reset()
		}
	}
	return out
}

// wrap lays a line out in rows of at most n cells. It breaks behind a space if one is
// past the first third, and drops nothing. Rows but the first begin with cont.
func wrap(l line, n int, cont line) []line {
	cs := cells(l)
	room := n
	var rows []line
	for {
		end := fit(cs, room)
		row := uncells(cs[:end])
		if len(rows) > 0 {
			row = append(append(line{}, cont...), row...)
		}
		rows = append(rows, row)
		if cs = cs[end:]; len(cs) == 0 {
			return rows
		}
		room = max(n-cont.width(), 2)
	}
}

// fit returns how many cells go into a row.
func fit(cs []cell, room int) int {
	used, space := 0, 0
	for i, c := range cs {
		if used+c.width > room && i > 0 {
			if space > 0 {
				return space
			}
			return i
		}
		used += c.width
		if c.text == " " && used > room/3 {
			space = i + 1
		}
	}
	return len(cs)
}

// wrapAll wraps each line.
func wrapAll(lines []line, n int, cont line) []line {
	var out []line
	for _, l := range lines {
		out = append(out, wrap(l, n, cont)...)
	}
	return out
}

// padded returns the line with spaces up to n cells.
func (l line) padded(n int) line {
	if gap := n - l.width(); gap > 0 {
		return append(append(line{}, l...), seg{strings.Repeat(" ", gap), plain})
	}
	return l
}
