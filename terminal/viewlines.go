package terminal

import (
	"fmt"
	"strings"

	"github.com/assent-dev/assent/present"
)

// viewRows lays a view out: the head of it that is within the limit, and a note of how
// much is not. What is said about a command stands below it.
func viewRows(view present.View, limit present.Limit, n int) page {
	cut := view.Cut(limit)
	header := factsLine(view.Facts)
	var rows []line
	if header != "" && view.Kind != present.KindCommand {
		rows = wrap(styled(faint, header), n, nil)
		if view.Kind != present.KindDiff { // which has a head of its own
			rows = append(rows, nil)
		}
	}
	rows = append(rows, contentRows(cut.View, view.Content, n)...)
	note := cut.Note()
	truncated, _ := view.Facts.Get(present.FactTruncated)
	headOnly, _ := truncated.Flag()
	if note == "" && headOnly {
		size, _ := view.Facts.Get(present.FactFullSize)
		note = "… only the head; the whole is " + present.SafeLine(size.Value()) + " bytes"
	}
	if note != "" {
		rows = append(rows, wrap(styled(warn, note), n, nil)...)
	}
	if header != "" && view.Kind == present.KindCommand {
		rows = append(rows, wrap(styled(faint, capital(header)), n, nil)...)
	}
	original, originalCut := originalRows(view.Original, limit, n)
	return page{rows: append(rows, original...), cut: cut.Chars > 0 || headOnly || originalCut, headOnly: headOnly}
}

// originalLabel stands above the text of a model that is shown in another form.
const originalLabel = "As the model wrote it:"

// originalRows shows what the model wrote, where that differs from what is shown.
func originalRows(original string, limit present.Limit, n int) (rows []line, short bool) {
	if original == "" {
		return nil, false
	}
	cut := present.View{Content: original}.Cut(limit)
	rows = append(rows, nil, styled(faint, originalLabel))
	for _, l := range safeLines(cut.View.Content) {
		rows = append(rows, wrap(append(text("  "), l...), n, styled(faint, "  ↳ "))...)
	}
	if note := cut.Note(); note != "" {
		rows = append(rows, wrap(styled(warn, note), n, nil)...)
	}
	return rows, cut.Chars > 0
}

// contentRows lays out the head of the content by its kind.
func contentRows(head present.View, whole string, n int) []line {
	cont := styled(faint, "↳ ")
	switch {
	case head.Kind == present.KindStructured && head.Content == "{}":
		return nil // there are no arguments
	case head.Content == "":
		return []line{styled(faint, "(empty)")}
	}
	switch head.Kind {
	case present.KindDiff:
		return wrapAll(diffLines(head.Content, whole), n, cont)
	case present.KindCommand:
		return commandRows(head, n)
	case present.KindFile:
		return wrapAll(highlight(head.Language, head.Content), n, cont)
	case present.KindStructured:
		language := head.Language
		if language == "" {
			language = "json"
		}
		return wrapAll(highlight(language, head.Content), n, cont)
	}
	return wrapAll(highlight(head.Language, head.Content), n, nil)
}

// commandRows shows a command as it would be typed.
func commandRows(head present.View, n int) []line {
	language := head.Language
	if language == "" {
		language = "bash"
	}
	var rows []line
	for i, l := range highlight(language, head.Content) {
		sign := styled(strong, "$ ")
		if i > 0 {
			sign = styled(faint, "> ")
		}
		rows = append(rows, wrap(append(sign, l...), n, text("  "))...)
	}
	return rows
}

// capital returns s with its first letter, which is ASCII, in upper case.
func capital(s string) string {
	if s != "" && 'a' <= s[0] && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// factLabels are the words for facts that several tools use; others show their name.
var factLabels = map[string]string{
	present.FactCwd:    "working directory",
	present.FactMethod: "method",
	present.FactURL:    "URL",
	"old_digest":       "digest before",
}

// factsLine puts the facts in one sentence: 245 bytes · 12 lines · method: POST. Those
// about cutting are left to the note that says what is missing.
func factsLine(facts present.Facts) string {
	var parts []string
	for _, f := range facts {
		if part := factText(f, facts); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

func factText(f present.Fact, all present.Facts) string {
	n, isNumber := f.Number()
	switch name := f.Name(); {
	case name == present.FactTruncated || name == present.FactFullSize:
		return ""
	case name == present.FactAdded && isNumber:
		removed, _ := all.Get(present.FactRemoved)
		return fmt.Sprintf("+%d −%s lines", n, present.SafeLine(removed.Value()))
	case name == present.FactRemoved && isNumber:
		return ""
	case name == present.FactCoarse:
		return "too large to compare line by line"
	case name == present.FactSize && isNumber:
		return count(n, "byte")
	case name == present.FactLines && isNumber:
		return count(n, "line")
	case name == present.FactOldSize && isNumber:
		if newSize, ok := all.Get(present.FactNewSize); ok {
			return fmt.Sprintf("%d → %s bytes", n, present.SafeLine(newSize.Value()))
		}
		return "was " + count(n, "byte")
	case name == present.FactNewSize && isNumber:
		if _, ok := all.Get(present.FactOldSize); ok {
			return ""
		}
		return "will be " + count(n, "byte")
	default:
		label, ok := factLabels[name]
		if !ok {
			label = present.SafeLine(name)
		}
		return label + ": " + present.SafeLine(f.Value())
	}
}

// count returns "1 line" or "2 lines".
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

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
