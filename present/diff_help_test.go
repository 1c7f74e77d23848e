package present

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// sides returns two texts of one file.
func sides(old, new string) (Side, Side) {
	return Side{Name: "f.txt", Text: old}, Side{Name: "f.txt", Text: new}
}

func diffOf(old, new string) LineDiff {
	a, b := sides(old, new)
	return DiffLines(a, b, DiffContext)
}

// hunkText returns the unified text of the hunks alone.
func hunkText(d LineDiff) string {
	_, text, _ := strings.Cut(d.String(), "+++ b/f.txt\n")
	return text
}

// apply replaces in old what d removes with what it adds, and fails where old is
// not what d says. It knows nothing of how d was made.
func apply(d LineDiff, old string) (string, error) {
	lines := strings.SplitAfter(old, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	done, made := 0, 0 // lines of the old and the new text
	for _, h := range d.Hunks {
		start := h.Old.Start
		if h.Old.Count > 0 {
			start--
		}
		if start < done || start > len(lines) {
			return "", fmt.Errorf("hunk %s starts at %d, behind is %d of %d", h.header(), start, done, len(lines))
		}
		out.WriteString(strings.Join(lines[done:start], ""))
		made += start - done
		done = start
		for _, l := range h.Lines {
			text := l.Text + "\n"
			if l.NoNewline {
				text = l.Text
			}
			if l.Kind != LineAdded {
				if done >= len(lines) || lines[done] != text || l.Old != done+1 {
					return "", fmt.Errorf("line %d of the old text is not %q", l.Old, text)
				}
				done++
			}
			if l.Kind != LineRemoved {
				out.WriteString(text)
				if made++; l.New != made {
					return "", fmt.Errorf("line %d of the new text is numbered %d", made, l.New)
				}
			}
		}
	}
	out.WriteString(strings.Join(lines[done:], ""))
	return out.String(), nil
}

// reverse returns the diff from the new text to the old one.
func reverse(d LineDiff) LineDiff {
	r := LineDiff{Old: d.New, New: d.Old}
	for _, h := range d.Hunks {
		back := Hunk{Old: h.New, New: h.Old, Section: h.Section}
		for _, l := range h.Lines {
			l.Old, l.New = l.New, l.Old
			switch l.Kind {
			case LineAdded:
				l.Kind = LineRemoved
			case LineRemoved:
				l.Kind = LineAdded
			}
			back.Lines = append(back.Lines, l)
		}
		r.Hunks = append(r.Hunks, back)
	}
	return r
}

// mustApply fails the test unless d turns old into new, and back.
func mustApply(t *testing.T, d LineDiff, old, new string) {
	t.Helper()
	if got, err := apply(d, old); err != nil || got != new {
		t.Fatalf("%v\nfrom %.300q\nthe diff makes %.300q\n          want %.300q\n%.2000s", err, old, got, new, d)
	}
	if got, err := apply(reverse(d), new); err != nil || got != old {
		t.Fatalf("%v\nfrom %.300q\nthe diff's reverse makes %.300q\n                    want %.300q\n%.2000s", err, new, got, old, d)
	}
}

// numbered returns the lines "line 1" to "line n".
func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d\n", i+1)
	}
	return lines
}

// randomText returns n lines drawn from the first values of the alphabet, with
// line ends of all sorts.
func randomText(r *rand.Rand, n, values int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%sword%d(%d)", strings.Repeat("\t", r.IntN(3)), r.IntN(values), r.IntN(2))
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", " \n", "\xff\n", "\n\n"}[r.IntN(7)])
	}
	if r.IntN(3) == 0 {
		b.WriteString("no newline")
	}
	return b.String()
}

// randomEdit returns text with some of its lines removed, replaced or doubled.
func randomEdit(r *rand.Rand, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch r.IntN(12) {
		case 0:
		case 1:
			b.WriteString("new " + line)
		case 2:
			b.WriteString(line + line)
		case 3:
			b.WriteString(strings.TrimRight(line, "\r\n") + "\r\n")
		default:
			b.WriteString(line)
		}
	}
	if r.IntN(6) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}
