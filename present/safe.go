package present

import "strings"

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
