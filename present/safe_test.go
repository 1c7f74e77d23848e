package present

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	mark := "\u0301"
	tests := map[string]struct{ in, want string }{
		"empty":               {"", ""},
		"plain":               {"héllo, 世界 🙂 ~", "héllo, 世界 🙂 ~"},
		"newline and tab":     {"a\n\tb", "a\n\tb"},
		"escape sequence":     {"\x1b[2Ja", `\x1b[2Ja`},
		"NUL":                 {"a\x00b", `a\x00b`},
		"carriage return":     {"rm -rf /\rls", `rm -rf /\x0dls`},
		"DEL":                 {"a\x7f", `a\x7f`},
		"C1":                  {"\u0085\u009b", `\u{85}\u{9b}`},
		"raw C1 byte":         {"a\x9bb", `a\x9bb`},
		"cut-off rune":        {"\xe4\xb8", `\xe4\xb8`},
		"overlong":            {"\xc0\xaf", `\xc0\xaf`},
		"surrogate bytes":     {"\xed\xa0\x80", `\xed\xa0\x80`},
		"replacement itself":  {"\uFFFD", "\uFFFD"},
		"bidi override":       {"a\u202eb", `a\u{202e}b`},
		"bidi isolate":        {"\u2066\u2069", `\u{2066}\u{2069}`},
		"zero width":          {"a\u200b\u200d\ufeffb", `a\u{200b}\u{200d}\u{feff}b`},
		"soft hyphen":         {"a\u00adb", `a\u{ad}b`},
		"tag":                 {"\U000E0041", `\u{e0041}`},
		"separators":          {"\u2028\u2029", `\u{2028}\u{2029}`},
		"other spaces":        {"\u00a0\u2003\u3000", `\u{a0}\u{2003}\u{3000}`},
		"private use":         {"\ue000", `\u{e000}`},
		"unassigned":          {"\u0378\U0010FFFF", `\u{378}\u{10ffff}`},
		"fillers":             {"\u115f\u1160\u3164\uffa0", `\u{115f}\u{1160}\u{3164}\u{ffa0}`},
		"blank Braille":       {"a\u2800b", `a\u{2800}b`},
		"variation selector":  {"a\ufe0f\U000E0100", `a\u{fe0f}\u{e0100}`},
		"literal backslash":   {`\x1b\u{202e}\\`, `\x1b\u{202e}\\`},
		"mark on base":        {"e" + mark, "e" + mark},
		"mark on space":       {" " + mark, " " + mark},
		"mark first":          {mark + "e", `\u{301}e`},
		"mark after newline":  {"e\n" + mark, "e\n" + `\u{301}`},
		"mark after tab":      {"e\t" + mark, "e\t" + `\u{301}`},
		"mark after escape":   {"e\x1b" + mark + mark, `e\x1b\u{301}\u{301}`},
		"spacing mark":        {"\u0903", `\u{903}`},
		"enclosing mark":      {"\n\u20dd", "\n" + `\u{20dd}`},
		"eight marks":         {"e" + strings.Repeat(mark, 8) + "x", "e" + strings.Repeat(mark, 8) + "x"},
		"ninth and tenth":     {"e" + strings.Repeat(mark, 10) + "x" + mark, "e" + strings.Repeat(mark, 8) + `\u{301}\u{301}x` + mark},
		"mixed stacked marks": {"e" + strings.Repeat("\u0301\u20dd\u0903", 3), "e" + strings.Repeat("\u0301\u20dd\u0903", 2) + "\u0301\u20dd" + `\u{903}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Safe(tt.in); got != tt.want {
				t.Errorf("Safe(%+q)\n got %+q\nwant %+q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSafeLine(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain":           {"notes/a b.md", "notes/a b.md"},
		"newline and tab": {"a\n\tb", `a\n\tb`},
		"escape":          {"a\x1b\n", `a\x1b\n`},
		"mark":            {"a\n\u0301", `a\n\u{301}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := SafeLine(tt.in); got != tt.want {
				t.Errorf("SafeLine(%+q)\n got %+q\nwant %+q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSpans(t *testing.T) {
	got := Spans("a\\x1b\x1b\u202eb\n\x00")
	want := []Span{{`a\x1b`, false}, {`\x1b\u{202e}`, true}, {"b\n", false}, {`\x00`, true}}
	if !slices.Equal(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if got := LineSpans("a\n"); !slices.Equal(got, []Span{{"a", false}, {`\n`, true}}) {
		t.Errorf("LineSpans: %#v", got)
	}
	if got := Spans(""); len(got) != 0 {
		t.Errorf("empty text: %#v", got)
	}
}

// TestSafeEveryRune asks the Unicode tables about each code point after a base.
func TestSafeEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		want := "a" + string(r)
		if mustEscape(r) {
			want = fmt.Sprintf(`a\u{%x}`, r)
			if r < utf8.RuneSelf {
				want = fmt.Sprintf(`a\x%02x`, r)
			}
		}
		if got := Safe("a" + string(r)); got != want {
			t.Errorf("U+%04X: got %+q, want %+q", r, got, want)
		}
	}
}

// mustEscape says by Unicode's own properties, not by our table, what may not be
// shown. The four at the end have no property of their own.
func mustEscape(r rune) bool {
	if r == '\n' || r == '\t' || r == ' ' {
		return false
	}
	return !unicode.IsGraphic(r) || unicode.In(r, unicode.C, unicode.Z, unicode.Bidi_Control,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r == 0x180E || r == 0x2800 || r == 0x16FE4 || r == 0x1D159
}

func TestSafePlainTextDoesNotAllocate(t *testing.T) {
	text := strings.Repeat("plain, wörld\n\t", 100)
	line := strings.Repeat("plain, wörld ", 100)
	if n := testing.AllocsPerRun(100, func() { _, _ = Safe(text), SafeLine(line) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
