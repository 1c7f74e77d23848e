package present

import (
	"math"
	"strings"
	"testing"
)

func TestDiffLinesGivesKindsTextsAndNumbers(t *testing.T) {
	d := diffOf("a\nb\nc\n", "a\nx y\nz\nc\n")
	want := []Line{
		{Kind: LineContext, Text: "a", Old: 1, New: 1},
		{Kind: LineRemoved, Text: "b", Old: 2},
		{Kind: LineAdded, Text: "x y", New: 2},
		{Kind: LineAdded, Text: "z", New: 3},
		{Kind: LineContext, Text: "c", Old: 3, New: 4},
	}
	if len(d.Hunks) != 1 || d.Hunks[0].Old != (Range{1, 3}) || d.Hunks[0].New != (Range{1, 4}) {
		t.Fatalf("got %+v", d)
	}
	mustEqual(t, d.Hunks[0].Lines, want)
}

func TestDiffLinesOfTheSameTextIsZero(t *testing.T) {
	for _, text := range []string{"", "a", "a\n", "a\r\nb\xff"} {
		d := diffOf(text, text)
		mustEqual(t, d, LineDiff{})
		if !d.IsZero() || d.String() != "" {
			t.Errorf("%q against itself: %q", text, d)
		}
	}
}

func TestDiffLinesContext(t *testing.T) {
	old := strings.Join(numbered(20), "")
	a, b := sides(old, strings.Replace(old, "line 10\n", "", 1))
	for context, want := range map[int]Range{
		-1: {10, 1}, 0: {10, 1}, 1: {9, 3}, 3: {7, 7}, 50: {1, 20}, math.MaxInt: {1, 20},
	} {
		d := DiffLines(a, b, context)
		if len(d.Hunks) != 1 || d.Hunks[0].Old != want {
			t.Errorf("context %d: got %v, want one hunk of %v", context, d.Hunks, want)
		}
		mustApply(t, d, a.Text, b.Text)
	}
}

func TestDiffShowsMissingNewlineAtTheEnd(t *testing.T) {
	want := "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"
	if got := hunkText(diffOf("a", "a\n")); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestDiffShowsLineEnds(t *testing.T) {
	d := diffOf("a\n", "a\r\n")
	mustEqual(t, d.Hunks[0].Lines, []Line{
		{Kind: LineRemoved, Text: "a", Old: 1},
		{Kind: LineAdded, Text: "a\r", New: 1, Marks: []Mark{{1, 2}}},
	})
}

func TestDiffFindsCommonLinesBetweenRepeatedOnes(t *testing.T) {
	// No line is unique in both texts, so only a search finds what is common.
	old := strings.Repeat("a\nb\n", 20)
	new := strings.Replace(old, "a\nb\na\n", "a\nx\na\n", 2)
	if got := diffOf(old, new).Stats(); got != (LineStats{2, 2}) {
		t.Errorf("got %v", got)
	}
}

func TestDiffStats(t *testing.T) {
	for want, d := range map[string]LineDiff{
		"+0 −0 lines": {},
		"+1 −0 lines": diffOf("", "a\n"),
		"+0 −1 lines": diffOf("a", ""),
		"+2 −1 lines": diffOf("a\nb\nc\n", "a\nx\ny\nc\n"),
	} {
		if got := d.Stats().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A file that is named by its full path has that path in the header.
func TestDiffHeaderOfAFullPath(t *testing.T) {
	for name, want := range map[string]string{
		"/tmp/a b": "--- /tmp/a b\t\n+++ /tmp/a b\t\n", "/dev/null": "--- a//dev/null\n+++ b//dev/null\n", "a": "--- a/a\n+++ b/a\n",
	} {
		if got := DiffLines(Side{name, "a\n"}, Side{name, "b\n"}, 0).String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if _, err := ParseDiff("--- a//tmp/x\n+++ b//tmp/x\n@@ -1 +1 @@\n-a\n+b\n"); err == nil {
		t.Error("a header that is never written is read")
	}
}

func TestDiffView(t *testing.T) {
	a, b := sides("a\nb\n", "a\nc\nd\n")
	v := DiffView(a, b)
	want := View{
		Kind:     KindDiff,
		Content:  "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n",
		Language: "diff",
		Facts: Facts{
			NumberFact(FactOldSize, 4), NumberFact(FactNewSize, 6),
			NumberFact(FactAdded, 2), NumberFact(FactRemoved, 1),
		},
	}
	if !v.Equal(want) || v.Validate() != nil {
		t.Errorf("got %+v", v)
	}
}

func TestDiffOf10MBShowsExactlyThe100Changes(t *testing.T) {
	old, new := scattered()
	d := diffOf(old, new)
	if d.Stats() != (LineStats{100, 100}) || len(d.Hunks) != 100 || d.Coarse {
		t.Errorf("%v in %d hunks, coarse: %v", d.Stats(), len(d.Hunks), d.Coarse)
	}
	for i, h := range d.Hunks {
		if got := h.Lines[3].Old; got != i*2400+8 {
			t.Errorf("change %d is in line %d", i, got)
		}
		if len(h.Lines[3].Marks) != 1 || len(h.Lines[4].Marks) != 1 {
			t.Errorf("change %d has the marks %v and %v", i, h.Lines[3].Marks, h.Lines[4].Marks)
		}
	}
	mustApply(t, d, old, new)
}

func TestDiffOfHardTextsEndsAndIsRight(t *testing.T) {
	for name, tt := range map[string]struct {
		make   func() (string, string)
		coarse bool
	}{
		"no common line": {func() (string, string) { return disjoint(200_000) }, false},
		"50 values":      {func() (string, string) { return fewValues(200_000, 50) }, true},
		"within budget":  {func() (string, string) { return fewValues(2_000, 50) }, false},
	} {
		old, new := tt.make()
		a, b := sides(old, new)
		d := DiffLines(a, b, DiffContext)
		mustApply(t, d, old, new)
		if d.Coarse != tt.coarse {
			t.Errorf("%s: coarse is %v", name, d.Coarse)
		}
		flag, _ := d.View(len(old), len(new)).Facts.Get(FactCoarse)
		if got, _ := flag.Flag(); got != tt.coarse {
			t.Errorf("%s: the view has the fact %v", name, flag)
		}
	}
}

func TestCompareStaysWithinItsBudget(t *testing.T) {
	old, new := fewValues(300, 5)
	c := comparer{x: splitLines(old), y: splitLines(new), budget: 300 * 300}
	whole := change{0, 300, 0, 300}
	c.refine(whole, maxAlign)
	if c.coarse || c.budget != 0 || len(c.changes) < 10 {
		t.Errorf("with enough budget: coarse %v, %d left, %d changes", c.coarse, c.budget, len(c.changes))
	}
	c = comparer{x: c.x, y: c.y, budget: 300*300 - 1}
	c.refine(whole, maxAlign)
	if !c.coarse || c.budget != 300*300-1 {
		t.Errorf("with too little budget: coarse %v, %d left", c.coarse, c.budget)
	}
}

func TestCompareAlignsAgainWhatIsTooLargeToSearch(t *testing.T) {
	// U is unique between the two anchors only, so the first alignment misses it.
	x := splitLines("U\nA\n1\n2\n1\nU\n2\n1\n2\nB\n")
	y := splitLines("A\n2\n1\n2\nU\n1\n2\n1\nB\nU\n")
	c := comparer{x: x, y: y, budget: 10}
	c.refine(change{2, 9, 1, 8}, maxAlign)
	for _, p := range c.changes {
		if p.x0 <= 5 && 5 < p.x1 {
			t.Errorf("the line unique inside the block is part of the change %v", p)
		}
	}
}
