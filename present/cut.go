package present

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Limit says how much of a view is shown at first. Zero or less in a field is
// no limit on that. A character is one code point; each byte that is not valid
// UTF-8 counts as one.
type Limit struct {
	Lines int
	Chars int
}

// DefaultLimit fits a question on a screen.
func DefaultLimit() Limit { return Limit{Lines: 50, Chars: 2000} }

// A Cut is the head of a view, and how much is left out.
type Cut struct {
	View  View // what is to be shown
	Lines int  // lines of which nothing is shown
	Chars int  // characters that are not shown, those of the Lines included
}

// Cut returns the head of v that is within both limits. If something is left
// out, the head's facts say so: truncated is true and full_size is the whole
// content in bytes (of a view that was itself cut from a longer one, its own
// full_size stays). If nothing is, the Cut holds v itself and zeros.
//
// A view is a value: v is unchanged and still holds the whole, for whoever wants
// to see the rest.
func (v View) Cut(limit Limit) Cut {
	end := limit.end(v.Content)
	if end == len(v.Content) {
		return Cut{View: v}
	}
	shown, rest := v.Content[:end], v.Content[end:]
	cut := Cut{View: v, Lines: unseenLines(shown, rest), Chars: utf8.RuneCountInString(rest)}
	cut.View.Content = shown
	cut.View.Facts = v.Facts.
		With(FlagFact(FactTruncated, true)).
		With(NumberFact(FactFullSize, v.fullSize()))
	return cut
}

// Note says in words what is left out, "" if nothing is.
func (c Cut) Note() string {
	switch {
	case c.Lines > 0:
		return fmt.Sprintf("… %d more %s (%d %s)",
			c.Lines, plural("line", c.Lines), c.Chars, plural("character", c.Chars))
	case c.Chars > 0:
		return fmt.Sprintf("… %d more %s", c.Chars, plural("character", c.Chars))
	}
	return ""
}

// end returns how many bytes of s are within the limit. A line includes the
// newline that ends it.
func (l Limit) end(s string) int {
	if l.Lines > 0 {
		s = s[:lineEnd(s, l.Lines)]
	}
	if l.Chars > 0 {
		return charEnd(s, l.Chars)
	}
	return len(s)
}

// lineEnd returns the length of the first n lines of s.
func lineEnd(s string, n int) int {
	end := 0
	for range n {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			return len(s)
		}
		end += i + 1
	}
	return end
}

// charEnd returns the length of the first n characters of s.
func charEnd(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// unseenLines counts the lines of rest that do not begin in shown.
func unseenLines(shown, rest string) int {
	if !strings.HasSuffix(shown, "\n") {
		_, rest, _ = strings.Cut(rest, "\n") // the end of a line that has begun
	}
	n := strings.Count(rest, "\n")
	if rest != "" && !strings.HasSuffix(rest, "\n") {
		n++
	}
	return n
}

// fullSize returns the bytes of the whole. A tool may have cut the content
// before, and then knows better than the length of what is left.
func (v View) fullSize() int64 {
	size := int64(len(v.Content))
	truncated, _ := v.Facts.Get(FactTruncated)
	full, _ := v.Facts.Get(FactFullSize)
	if truncated.flag {
		size = max(size, full.number)
	}
	return size
}

func plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// HexDump lays data out as hex.Dump does, with an offset of six digits: then a row of 16
// bytes fits into a box on a screen of 80 columns. The data must be shorter than 16 MiB.
func HexDump(data []byte) string {
	var b strings.Builder
	for row := range strings.Lines(hex.Dump(data)) {
		b.WriteString(strings.TrimPrefix(row, "00"))
	}
	return b.String()
}
