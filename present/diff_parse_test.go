package present

import (
	"reflect"
	"strings"
	"testing"
)

// mustEqual compares to the last field.
func mustEqual[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

const parsed = "--- a/f.txt\n+++ b/f.txt\n@@ -2,2 +2,3 @@ head\n a\n-b c\n+b d\n+e\n\\ No newline at end of file\n"

func TestParseDiffReadsWhatStringWrites(t *testing.T) {
	d, err := ParseDiff(parsed)
	if err != nil || d.String() != parsed {
		t.Fatalf("%v: %q", err, d)
	}
	mustEqual(t, d, LineDiff{Old: "f.txt", New: "f.txt", Hunks: []Hunk{{
		Old: Range{2, 2}, New: Range{2, 3}, Section: "head",
		Lines: []Line{
			{Kind: LineContext, Text: "a", Old: 2, New: 2},
			{Kind: LineRemoved, Text: "b c", Old: 3, Marks: []Mark{{2, 3}}},
			{Kind: LineAdded, Text: "b d", New: 3, Marks: []Mark{{2, 3}}},
			{Kind: LineAdded, Text: "e", New: 4, NoNewline: true},
		},
	}}})
}

func TestParseDiffOfNothingIsZero(t *testing.T) {
	d, err := ParseDiff("")
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, d, LineDiff{})
}

func TestParseDiffKeepsNames(t *testing.T) {
	for _, name := range []string{"", "a", "with space", "/dev/null", "/abs", "new\nline", "tab\t", `"q"`, `\`, "\xff", "\xff\n", "ä\n", "\u202e"} {
		d := DiffLines(Side{name, "a\n"}, Side{name + "2", "b\n"}, 0)
		back, err := ParseDiff(d.String())
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		mustEqual(t, back, d)
	}
}

func TestParseDiffRefuses(t *testing.T) {
	const names = "--- a/f\n+++ b/f\n"
	for name, tt := range map[string]struct{ text, want string }{
		"no names":                {"@@ -1 +1 @@\n-a\n+b\n", "line 1: want a name"},
		"one name":                {"--- a/f\n@@ -1 +1 @@\n-a\n+b\n", "line 2: want a name"},
		"name without a prefix":   {"--- f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "line 1: want /dev/null or a name"},
		"empty name":              {"--- a/\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "line 1: want /dev/null or a name"},
		"name in half quotes":     {"--- \"a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "line 1: the name is not quoted"},
		"name quoted in vain":     {"--- \"a/f\"\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "usual form"},
		"a time after the name":   {"--- a/f\t2020\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "usual form"},
		"no hunk":                 {names, "line 3: the text ends too early"},
		"text before":             {"diff --git a/f b/f\n" + names, "line 1: want a name"},
		"text after":              {names + "@@ -1 +1 @@\n-a\n+b\nmore\n", "line 6: want a hunk"},
		"hunk cut":                {names + "@@ -1,2 +1 @@\n-a\n+b\n", "line 6: the text ends too early"},
		"line cut":                {names + "@@ -1 +1 @@\n-a\n+b", "line 5: the line has no newline"},
		"too many lines":          {names + "@@ -1 +1,2 @@\n-a\n-c\n+b\n", "line 5: the hunk announces fewer"},
		"empty line":              {names + "@@ -1,2 +1 @@\n-a\n\n", "line 5: want a line that starts"},
		"unknown sign":            {names + "@@ -1 +1 @@\n!a\n+b\n", "line 4: want a line that starts"},
		"only context":            {names + "@@ -1 +1 @@\n a\n", "line 4: the hunk changes nothing"},
		"empty hunk":              {names + "@@ -1,0 +1,0 @@\n", "line 3: the hunk is empty"},
		"hunk without end":        {names + "@@ -1 +1\n-a\n+b\n", "line 3: want a hunk"},
		"count of one":            {names + "@@ -1,1 +1 @@\n-a\n+b\n", "usual form"},
		"number with a zero":      {names + "@@ -01 +1 @@\n-a\n+b\n", "usual form"},
		"number with a sign":      {names + "@@ -+1 +1 @@\n-a\n+b\n", "line 3: \"+1\" is not a number"},
		"huge number":             {names + "@@ -99999999999999999999 +1 @@\n-a\n+b\n", "is not a number"},
		"line 0":                  {names + "@@ -0 +1 @@\n-a\n+b\n", "start at 0"},
		"texts out of step":       {names + "@@ -2 +3 @@\n-a\n+b\n", "do not continue"},
		"hunks overlap":           {names + "@@ -5 +5 @@\n-a\n+b\n@@ -5 +5 @@\n-a\n+b\n", "line 6: the line numbers do not continue"},
		"marker first":            {names + "@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n", "line 4: want a line"},
		"line after the end":      {names + "@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-b\n+b\n", "line 6: a line after the end"},
		"hunk after the end":      {names + "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n@@ -5 +5 @@\n-a\n+b\n", "line 7: lines after the end"},
		"heading with a space":    {names + "@@ -1 +1 @@ \n-a\n+b\n", "usual form"},
		"heading without a space": {names + "@@ -1 +1 @@x\n-a\n+b\n", "usual form"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := ParseDiff(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			mustEqual(t, d, LineDiff{})
		})
	}
}

func TestParseDiffRefusesEveryCut(t *testing.T) {
	for end := 1; end < len(parsed); end++ {
		// Without its last line the text is whole: it then ends with a newline.
		if _, err := ParseDiff(parsed[:end]); err == nil && parsed[end:] != noNewline {
			t.Errorf("accepted: %q", parsed[:end])
		}
	}
}
