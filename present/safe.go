package present

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe returns s with everything made visible that could hide, move, reorder or
// act on a terminal. Nothing is dropped. The result is valid UTF-8, and its only
// control characters are newline and tab. Text that needs no change is returned
// as it is.
//
// These become visible:
//   - control characters (C0 but newline and tab, DEL, C1) and bytes that are
//     not valid UTF-8
//   - format characters (category Cf: bidi, zero width, tags), line and
//     paragraph separators, and every space that is not U+0020
//   - whatever else Unicode does not call printable, and the printable
//     characters that show nothing
//   - combining marks without a base character before them, and from the ninth
//     in a row on: stacked marks would paint over the lines around them
//
// A byte below 0x80 and a byte that is not valid UTF-8 look like \x1b, other
// characters like \u{202e}. A backslash that is already in s stays as it is:
// the four characters \x1b are harmless, though they then look the same as an
// escape made here. [Spans] tells the two apart.
//
// Letters of scripts that run from right to left stay as they are; on a terminal
// that reorders them, what stands between such letters moves with them.
func Safe(s string) string { return safe(s, false) }

// SafeLine is [Safe] for what has to stay on one line, such as a title, a name
// or a path: newline and tab are made visible too, as \n and \t.
func SafeLine(s string) string { return safe(s, true) }

func safe(s string, line bool) string {
	var b strings.Builder
	for rest := s; rest != ""; {
		n, plain := head(rest, line)
		switch {
		case n == len(s) && plain:
			return s
		case plain:
			b.WriteString(rest[:n])
		default:
			writeEscaped(&b, rest[:n])
		}
		rest = rest[n:]
	}
	return b.String()
}

// A Span is a piece of safe text. Escaped says that the text was made visible
// here and stands for something else, so that it can be styled differently.
type Span struct {
	Text    string
	Escaped bool
}

// Spans returns the text of [Safe] in pieces: what was in s and what was made
// visible, in turn. No piece is empty, and neighbours differ in Escaped.
func Spans(s string) []Span { return spans(s, false) }

// LineSpans returns the text of [SafeLine] in pieces, as [Spans] does for Safe.
func LineSpans(s string) []Span { return spans(s, true) }

func spans(s string, line bool) []Span {
	var out []Span
	for s != "" {
		n, plain := head(s, line)
		text := s[:n]
		if !plain {
			var b strings.Builder
			writeEscaped(&b, text)
			text = b.String()
		}
		out = append(out, Span{Text: text, Escaped: !plain})
		s = s[n:]
	}
	return out
}

// maxMarks is how many combining marks one base character may carry. Written
// languages need fewer.
const maxMarks = 8

// invisible lists characters that Unicode calls printable but that show nothing:
// fillers, blanks and variation selectors.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115F, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180B, Hi: 0x180F, Stride: 1}, // Mongolian selectors
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1}, // variation selectors
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, // halfwidth Hangul filler
	},
	R32: []unicode.Range32{
		{Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, // Khitan filler
		{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}, // musical null notehead
		{Lo: 0xE0100, Hi: 0xE01EF, Stride: 1}, // more variation selectors
	},
}

// head returns the length of the longest head of s that is shown as it is
// (plain) or, if its first character is not, that is escaped.
//
// It needs no memory of what came before: a plain head always begins with a
// character that is no mark, and a mark at the begin of an escaped one has no
// base either way.
func head(s string, line bool) (n int, plain bool) {
	room := 0 // how many more marks the last base may carry
	for n < len(s) {
		size, left, ok := next(s[n:], room, line)
		if n == 0 {
			plain = ok
		} else if ok != plain {
			break
		}
		n, room = n+size, left
	}
	return n, plain
}

// next judges the first character of s, which is not empty: its size in bytes,
// how many marks it leaves room for, and whether it may be shown as it is.
func next(s string, room int, line bool) (size, left int, ok bool) {
	c := s[0]
	if ' ' <= c && c <= '~' {
		return 1, maxMarks, true
	}
	if c == '\n' || c == '\t' {
		return 1, 0, !line
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1, hidden(r):
		return size, 0, false
	case unicode.IsMark(r):
		return size, max(room-1, 0), room > 0
	}
	return size, maxMarks, true
}

// hidden reports whether r shows nothing, or acts on what is around it. IsPrint
// already excludes all of C (control, format, unassigned) and all of Z but U+0020.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(invisible, r)
}

// writeEscaped writes every character of s in its visible form.
func writeEscaped(b *strings.Builder, s string) {
	const hex = "0123456789abcdef"
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch c := s[0]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case size == 1: // below 0x80, or not valid UTF-8
			b.WriteString(`\x`)
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteString(`\u{`)
			b.WriteString(strconv.FormatInt(int64(r), 16))
			b.WriteByte('}')
		}
		s = s[size:]
	}
}
