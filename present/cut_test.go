package present

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	tests := map[string]struct {
		content      string
		limit        Limit
		shown        string
		lines, chars int
		note         string
	}{
		"no limit":               {"a\nb\n", Limit{}, "a\nb\n", 0, 0, ""},
		"negative is no limit":   {"a\nb\n", Limit{-1, -1}, "a\nb\n", 0, 0, ""},
		"empty":                  {"", Limit{1, 1}, "", 0, 0, ""},
		"fits by lines":          {"a\nb", Limit{Lines: 2}, "a\nb", 0, 0, ""},
		"trailing newline fits":  {"a\nb\n", Limit{Lines: 2}, "a\nb\n", 0, 0, ""},
		"one line more":          {"a\nb\nc", Limit{Lines: 2}, "a\nb\n", 1, 1, "… 1 more line (1 character)"},
		"one ended line more":    {"a\nb\nc\n", Limit{Lines: 2}, "a\nb\n", 1, 2, "… 1 more line (2 characters)"},
		"one empty line more":    {"a\nb\n\n", Limit{Lines: 2}, "a\nb\n", 1, 1, "… 1 more line (1 character)"},
		"lines more":             {"a\nb\nc\nd", Limit{Lines: 1}, "a\n", 3, 5, "… 3 more lines (5 characters)"},
		"fits by characters":     {"abc", Limit{Chars: 3}, "abc", 0, 0, ""},
		"one character more":     {"abcd", Limit{Chars: 3}, "abc", 0, 1, "… 1 more character"},
		"characters more":        {"abcdef", Limit{Chars: 3}, "abc", 0, 3, "… 3 more characters"},
		"only the newline":       {"abc\n", Limit{Chars: 3}, "abc", 0, 1, "… 1 more character"},
		"within a line":          {"abc\nd\ne", Limit{Chars: 2}, "ab", 2, 5, "… 2 more lines (5 characters)"},
		"before a newline":       {"ab\nc", Limit{Chars: 2}, "ab", 1, 2, "… 1 more line (2 characters)"},
		"after a newline":        {"ab\nc", Limit{Chars: 3}, "ab\n", 1, 1, "… 1 more line (1 character)"},
		"lines come first":       {"a\nb\nc", Limit{1, 5}, "a\n", 2, 3, "… 2 more lines (3 characters)"},
		"characters come first":  {"a\nbcd\n", Limit{2, 3}, "a\nb", 0, 3, "… 3 more characters"},
		"runes are not split":    {"世界人", Limit{Chars: 2}, "世界", 0, 1, "… 1 more character"},
		"invalid bytes are one":  {"\xff\xfe\xfd", Limit{Chars: 2}, "\xff\xfe", 0, 1, "… 1 more character"},
		"cut-off rune, by bytes": {"\xe4\xb8a", Limit{Chars: 1}, "\xe4", 0, 2, "… 2 more characters"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cut := View{Kind: KindText, Content: tt.content}.Cut(tt.limit)
			if cut.View.Content != tt.shown || cut.Lines != tt.lines || cut.Chars != tt.chars {
				t.Errorf("shown %q, %d lines and %d characters more", cut.View.Content, cut.Lines, cut.Chars)
			}
			if cut.Note() != tt.note {
				t.Errorf("note %q, want %q", cut.Note(), tt.note)
			}
			if _, truncated := cut.View.Facts.Get(FactTruncated); truncated != (tt.note != "") {
				t.Errorf("facts %v", cut.View.Facts)
			}
		})
	}
}

func TestCutKeepsTheWhole(t *testing.T) {
	facts := append(make(Facts, 0, 8), TextFact(FactCwd, "notes"))
	v := View{Kind: KindFile, Content: "世\nb", Language: "go", Facts: facts}
	want := View{Kind: KindFile, Content: "世\n", Language: "go", Facts: Facts{
		TextFact(FactCwd, "notes"), FlagFact(FactTruncated, true), NumberFact(FactFullSize, 5),
	}}
	if got := v.Cut(Limit{Lines: 1}).View; !got.Equal(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if v.Content != "世\nb" || !slices.Equal(v.Facts, Facts{TextFact(FactCwd, "notes")}) {
		t.Errorf("the whole changed: %+v", v)
	}
}

func TestCutAgainKeepsFullSize(t *testing.T) {
	v := View{Kind: KindText, Content: strings.Repeat("a", 100)}
	cut := v.Cut(Limit{Chars: 10}).View.Cut(Limit{Chars: 5})
	if size, _ := cut.View.Facts.Get(FactFullSize); size != NumberFact(FactFullSize, 100) {
		t.Errorf("full size %v, want 100", size)
	}
	v.Facts = Facts{NumberFact(FactFullSize, 999)} // not said to be truncated: not believed
	if size, _ := v.Cut(Limit{Chars: 5}).View.Facts.Get(FactFullSize); size != NumberFact(FactFullSize, 100) {
		t.Errorf("full size %v, want 100", size)
	}
}

func TestDefaultLimit(t *testing.T) {
	if DefaultLimit() != (Limit{Lines: 50, Chars: 2000}) {
		t.Errorf("%+v", DefaultLimit())
	}
	cut := View{Kind: KindText, Content: strings.Repeat("line\n", 897)}.Cut(DefaultLimit())
	if cut.Note() != "… 847 more lines (4235 characters)" {
		t.Error(cut.Note())
	}
}

func TestCutAllocatesOnlyFacts(t *testing.T) {
	v := View{Kind: KindText, Content: strings.Repeat("0123456789abcde\n", 1<<20)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v.Cut(DefaultLimit())
	v.Cut(Limit{Lines: 1 << 19, Chars: 1 << 22})
	runtime.ReadMemStats(&after)
	if size := after.TotalAlloc - before.TotalAlloc; size > 64<<10 {
		t.Errorf("%d bytes allocated to cut %d", size, len(v.Content))
	}
}
