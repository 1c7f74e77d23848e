package present

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var hostile = []string{
	"", "plain\n\ttext", "\x1b[31mred\x1b[0m", "a\u202egnp.exe", "\xff\xfe\xed\xa0\x80", `\x1b\u{202e}`,
	"e" + strings.Repeat("\u0301", 12), "\u0301", "\x1b\u0301", "a\u200bb\u3164\ufe0f\U000E0041", "\r\n\u0085\u2028", "世界\uFFFD🙂",
}

func FuzzSafe(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkShown(t, Safe(s), "\n\t")
		checkShown(t, SafeLine(s), "")
		checkSpans(t, s, Safe(s), Spans(s))
		checkSpans(t, s, SafeLine(s), LineSpans(s))
		if once := Safe(s); Safe(once) != once {
			t.Errorf("safe text %+q changes when made safe again", once)
		}
	})
}

// checkShown fails if safe text could mislead. It may have the given controls.
func checkShown(t *testing.T, safe, controls string) {
	t.Helper()
	if !utf8.ValidString(safe) {
		t.Errorf("%+q is not valid UTF-8", safe)
	}
	room := 0
	for _, r := range safe {
		if mustEscape(r) || r < ' ' && !strings.ContainsRune(controls, r) {
			t.Errorf("%+q shows U+%04X", safe, r)
		}
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc):
			if room--; room < 0 {
				t.Errorf("%+q shows a mark without base, or too many", safe)
			}
		case r == '\n' || r == '\t':
			room = 0
		default:
			room = 8
		}
	}
}

// checkSpans fails unless spans alternate, join to the safe text, and decode to
// s to the byte.
func checkSpans(t *testing.T, s, safe string, spans []Span) {
	t.Helper()
	var text, back strings.Builder
	for i, span := range spans {
		if span.Text == "" || i > 0 && span.Escaped == spans[i-1].Escaped {
			t.Errorf("span %d of %+v is empty, or no change from the one before", i, spans)
		}
		text.WriteString(span.Text)
		if span.Escaped {
			unescape(t, &back, span.Text)
		} else {
			back.WriteString(span.Text)
		}
	}
	if text.String() != safe {
		t.Errorf("spans give %+q, text is %+q", text.String(), safe)
	}
	if back.String() != s {
		t.Errorf("spans decode to %+q, text was %+q", back.String(), s)
	}
}

// unescape writes what escaped text stands for.
func unescape(t *testing.T, b *strings.Builder, text string) {
	for len(text) >= 2 {
		form, rest := text[:2], text[2:]
		switch form {
		case `\n`:
			b.WriteByte('\n')
		case `\t`:
			b.WriteByte('\t')
		case `\x`:
			b.WriteByte(byte(parseHex(t, rest[:2], 8)))
			rest = rest[2:]
		default:
			var digits string
			digits, rest, _ = strings.Cut(strings.TrimPrefix(rest, "{"), "}")
			b.WriteRune(rune(parseHex(t, digits, 32)))
		}
		text = rest
	}
	b.WriteString(text) // an odd rest is no escape, and makes the comparison fail
}

func parseHex(t *testing.T, digits string, bits int) uint64 {
	n, err := strconv.ParseUint(digits, 16, bits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
