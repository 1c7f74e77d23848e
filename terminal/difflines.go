package terminal

import (
	"strings"

	"github.com/assent-dev/assent/present"
)

// maxMarkedDiff is the size up to which a diff is read for marks inside of its lines.
const maxMarkedDiff = 256 << 10

// diffLines styles the head of a unified diff. The whole is needed to tell which words
// differ; without it, or if it is not a diff in the usual form, whole lines are coloured.
func diffLines(head, whole string) []line {
	var marks map[int][]mark
	if len(whole) <= maxMarkedDiff {
		marks = wordMarks(whole)
	}
	raw := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	out := make([]line, len(raw))
	inside := false // behind the names, where --- is a line of the file
	for i, l := range raw {
		if strings.HasPrefix(l, "@@") {
			inside = true
		}
		out[i] = diffLine(l, inside, marks[i])
	}
	return out
}

// A mark is a part of a line that differs from its counterpart.
type mark struct{ start, end int }

// wordMarks returns the marks of each line of the diff, by its place in the text; the
// sign in front of a line counts.
func wordMarks(diff string) map[int][]mark {
	parsed, err := present.ParseDiff(diff)
	if err != nil {
		return nil
	}
	marks := map[int][]mark{}
	at := 2 // the two names
	for _, h := range parsed.Hunks {
		at++ // its header
		for _, l := range h.Lines {
			for _, m := range l.Marks {
				marks[at] = append(marks[at], mark{1 + m.Start, 1 + m.End})
			}
			if at++; l.NoNewline {
				at++ // \ No newline at end of file
			}
		}
	}
	return marks
}

func diffLine(raw string, inside bool, marks []mark) line {
	base, word := plain, plain
	switch {
	case strings.HasPrefix(raw, "@@"):
		base = hunkLine
	case !inside:
		base = faint
	case strings.HasPrefix(raw, "+"):
		base, word = added, addedWord
	case strings.HasPrefix(raw, "-"):
		base, word = removed, removedWord
	case strings.HasPrefix(raw, `\`):
		base = faint
	}
	var out line
	at := 0
	for _, m := range marks {
		if m.end > len(raw) {
			break // the line is cut
		}
		out = append(out, safeDiffPart(raw[at:m.start], base)...)
		out = append(out, safeDiffPart(raw[m.start:m.end], word)...)
		at = m.end
	}
	return append(out, safeDiffPart(raw[at:], base)...)
}

// safeDiffPart makes a part of a line safe. A tab in a changed line shows as an arrow, so
// that a tab for spaces is a change that can be seen.
func safeDiffPart(raw string, st style) line {
	var out line
	for _, span := range present.Spans(raw) {
		if span.Escaped {
			out = append(out, seg{span.Text, escape})
			continue
		}
		s := span.Text
		if st != plain {
			s = strings.ReplaceAll(s, "\t", "→\t")
		}
		out = append(out, seg{s, st})
	}
	return out
}
