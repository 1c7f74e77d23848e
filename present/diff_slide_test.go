package present

import (
	"strings"
	"testing"
)

// TestDiffStartsChangesWhereTheyReadBest: + marks the lines that are to be shown as
// added; the same change could be shown some lines higher or lower.
func TestDiffStartsChangesWhereTheyReadBest(t *testing.T) {
	for name, text := range map[string]string{
		"a function":       " func a() {\n }\n \n+func b() {\n+}\n+\n func c() {\n }\n",
		"same first line":  " start\n+if x {\n+\ta\n+}\n if x {\n \tb\n }\n",
		"same first lines": " start\n+for x {\n+  i\n+end\n+\n for x {\n   j\n end\n",
		"at the end":       " a\n+a\n",
		"blank lines":      " a\n \n+b\n+\n c\n",
	} {
		t.Run(name, func(t *testing.T) {
			var old, new strings.Builder
			for line := range strings.Lines(text) {
				if line[0] == ' ' {
					old.WriteString(line[1:])
				}
				new.WriteString(line[1:])
			}
			for _, d := range []LineDiff{diffOf(old.String(), new.String()), reverse(diffOf(new.String(), old.String()))} {
				mustApply(t, d, old.String(), new.String())
				if _, got, _ := strings.Cut(hunkText(d), " @@\n"); !strings.Contains(text, got) && got != text {
					t.Errorf("got\n%swant\n%s", got, text)
				}
			}
		})
	}
}

func TestDiffJoinsChangesThatSlideTogether(t *testing.T) {
	x, y := splitLines("a\na\nb\n"), splitLines("c\n")
	got := slideAll(x, y, []change{{0, 1, 0, 0}, {1, 3, 0, 1}})
	if len(got) != 1 || got[0] != (change{0, 3, 0, 1}) {
		t.Errorf("got %v", got)
	}
}

func TestDiffSlideGoesUpAndDownAsFarAsItMay(t *testing.T) {
	lines := splitLines("a\na\na\na\n\ta\n")
	for _, tt := range []struct{ from, to, up, down, want int }{
		{1, 2, 1, 3, 2}, // down, up to the line that differs
		{1, 2, 1, 1, 1}, // down, up to the next change
		{3, 4, 3, 1, 0}, // it is at the bottom
		{0, 1, 0, 0, 0}, // no room
	} {
		if got := slide(lines, tt.from, tt.to, tt.up, tt.down); got != tt.want {
			t.Errorf("%v: got %d", tt, got)
		}
	}
	up := splitLines("x {\n\ty\nx {\n\tz\n")
	if got := slide(up, 1, 3, 1, 0); got != -1 {
		t.Errorf("up to the line that is less indented: got %d", got)
	}
}

func TestDiffBetterStart(t *testing.T) {
	for _, tt := range []struct{ better, worse string }{
		{"text\n", "\n"}, {"\ttext\n", " \n"}, {"\tf() {\n", "}\n"}, {"  do\n", "end\n"},
		{"a\n", "\ta\n"}, {"    a\n", "\ta\n"}, {"\ta\n", "  \t a\n"},
	} {
		if !betterStart(tt.better, tt.worse) || betterStart(tt.worse, tt.better) {
			t.Errorf("%q should be better than %q", tt.better, tt.worse)
		}
	}
}

func TestDiffSectionIsCutBetweenRunes(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("a", 79) + "ä":     strings.Repeat("a", 79),
		strings.Repeat("a", 78) + "ä":     strings.Repeat("a", 78) + "ä",
		strings.Repeat("a", 78) + "  b":   strings.Repeat("a", 78),
		strings.Repeat("a", 100):          strings.Repeat("a", 80),
		"a" + strings.Repeat("\xa0", 100): "a" + strings.Repeat("\xa0", 75),
	} {
		if got := cutSection(text + "\n"); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestDiffSlidesWithinTheLinesAroundAChange(t *testing.T) {
	x, y := splitLines("x {\n\tz\n"), splitLines("x {\n\ty\nx {\n\tz\n")
	if got := slideAll(x, y, []change{{1, 1, 1, 3}}); got[0] != (change{0, 0, 0, 2}) {
		t.Errorf("up: got %v", got)
	}
	x, y = splitLines("a\na\nb\n"), splitLines("a\na\na\nb\n")
	if got := slideAll(x, y, []change{{0, 0, 0, 1}}); got[0] != (change{2, 2, 2, 3}) {
		t.Errorf("down: got %v", got)
	}
}
