package terminal

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
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

// A lineReader reads a line when one is wanted, and no more: what comes after belongs to
// somebody else. All but read is for whoever has the screen.
type lineReader struct {
	got    chan typedLine
	wanted chan struct{}
	// question is what the line was wanted for that has not come; nil if none is wanted. It
	// may be one that was withdrawn: reading a line cannot be taken back.
	question *approval.Request
}

type typedLine struct {
	text string
	err  error
}

// typedLines returns the reader of the approver's input.
func (a *Approver) typedLines() *lineReader {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lines == nil {
		a.lines = &lineReader{got: make(chan typedLine), wanted: make(chan struct{}, 1)}
		go a.lines.read(a.cfg.In)
	}
	return a.lines
}

// want asks for a line, unless one is asked for already.
func (r *lineReader) want(question *approval.Request) {
	if r.question == nil {
		r.question = question
		r.wanted <- struct{}{}
	}
}

// taken returns the question that a line was wanted for, after it came.
func (r *lineReader) taken() (question *approval.Request) {
	question, r.question = r.question, nil
	return question
}

func (r *lineReader) read(in io.Reader) {
	buffer := bufio.NewReader(in)
	for range r.wanted {
		l, err := buffer.ReadString('\n')
		r.got <- typedLine{strings.TrimRight(l, "\r\n"), err}
	}
}

// Columns returns how wide the terminal of a file is; 0 if it is none.
func Columns(f *os.File) int {
	if !IsTerminal(f) {
		return 0
	}
	columns, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return columns
}

// Prose returns text that is safe to print, in lines of at most so many columns that break
// behind words; 0 is without end. Lines but the first begin with the indent.
func Prose(s string, columns int, indent string) string {
	if columns <= 0 {
		columns = 1 << 30
	}
	var lines []string
	for raw := range strings.SplitSeq(present.Safe(s), "\n") {
		l := text(raw)
		if len(lines) > 0 {
			l = text(indent + raw)
		}
		for _, row := range wrap(l, max(columns, minWidth), text(indent)) {
			lines = append(lines, strings.TrimRight(row.String(), " "))
		}
	}
	return strings.Join(lines, "\n")
}
