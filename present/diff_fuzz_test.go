package present

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc", "f.txt", 3)
	f.Add("", "a\r\n", "a b", 0)
	f.Add("a\na\nb\na\n", "a\nb\na\na\nb\n", "\n\xff", 1)
	f.Add("x := f(a, b)\n\xff\n", "x := f(a, c)\n\xfe", "", 2)
	f.Add("\\ No newline at end of file\n@@ -1 +1 @@\n", "--- a/f\n+++ b/f\n", `"`, 3)
	f.Fuzz(func(t *testing.T, old, new, name string, context int) {
		d := DiffLines(Side{name, old}, Side{name, new}, context)
		mustApply(t, d, old, new)
		if d.IsZero() != (old == new) {
			t.Fatalf("%q and %q: zero is %v", old, new, d.IsZero())
		}
		back, err := ParseDiff(d.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, d)
		}
		mustEqual(t, back, d)
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				checkMarks(t, l.Text, l.Marks)
			}
		}
	})
}

func FuzzParseDiff(f *testing.F) {
	f.Add(parsed)
	f.Add("--- \"a/\\n\"\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDiff(text)
		if err == nil && d.String() != text {
			t.Fatalf("%q is read as %q", text, d)
		}
		if old, ok := fill(d); ok {
			if _, err := apply(d, old); err != nil {
				t.Fatalf("%q fits no text: %v", text, err)
			}
		}
	})
}

// fill returns a text that d can be applied to, unless that would be a large one.
func fill(d LineDiff) (old string, ok bool) {
	var b strings.Builder
	made := 0
	for _, h := range d.Hunks {
		if h.Old.Start > 1000 {
			return "", false
		}
		for ; made < h.Old.first(); made++ {
			b.WriteString("\n")
		}
		for _, l := range h.Lines {
			if l.Kind == LineAdded {
				continue
			}
			b.WriteString(l.Text)
			if !l.NoNewline {
				b.WriteString("\n")
			}
			made++
		}
	}
	return b.String(), true
}

func FuzzWordMarks(f *testing.F) {
	f.Add("x := f(a, b)", "x := f(a, c)")
	f.Add("世界人民 \xff", "世界公民 \xfe\r")
	f.Add("  a  b", "a b  ")
	f.Add("e\u0301 a", "e a")
	f.Fuzz(func(t *testing.T, a, b string) {
		old, new := []Line{{Text: a}}, []Line{{Text: b}}
		m := wordMarker{work: maxMarkWork}
		m.markPair(&old[0], &new[0])
		checkMarks(t, a, old[0].Marks)
		checkMarks(t, b, new[0].Marks)
		if old[0].Marks == nil && new[0].Marks == nil {
			return // not alike
		}
		if got, want := unmarked(old[0]), unmarked(new[0]); got != want {
			t.Fatalf("%q and %q: left unmarked are %q and %q", a, b, got, want)
		}
	})
}

// unmarked returns what no mark of the line covers.
func unmarked(l Line) string {
	text, done := "", 0
	for _, m := range l.Marks {
		text += l.Text[done:m.Start]
		done = m.End
	}
	return text + l.Text[done:]
}

// checkMarks fails the test unless the marks are in order, apart, not empty,
// inside the text and between its runes.
func checkMarks(t *testing.T, text string, marks []Mark) {
	t.Helper()
	starts := []int{len(text)}
	for i := range text {
		starts = append(starts, i)
	}
	slices.Sort(starts)
	last := -1
	for _, m := range marks {
		_, onStart := slices.BinarySearch(starts, m.Start)
		_, onEnd := slices.BinarySearch(starts, m.End)
		if m.Start <= last || m.Start >= m.End || !onStart || !onEnd {
			t.Fatalf("%q (%d runes) has the marks %v", text, utf8.RuneCountInString(text), marks)
		}
		last = m.End
	}
}
