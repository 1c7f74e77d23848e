package terminal

import (
	"github.com/assent-dev/assent/present"
)

// viewRows lays a view out: the head of it that is within the limit, and a note of how
// much is not. What is said about a command stands below it.
func viewRows(view present.View, limit present.Limit, n int) page {
	cut := view.Cut(limit)
	header := factsLine(view.Facts)
	var rows []line
	if header != "" && view.Kind != present.Command {
		rows = wrap(styled(faint, header), n, nil)
		if view.Kind != present.Diff { // which has a head of its own
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
	if header != "" && view.Kind == present.Command {
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
	case head.Kind == present.Structured && head.Content == "{}":
		return nil // there are no arguments
	case head.Content == "":
		return []line{styled(faint, "(empty)")}
	}
	switch head.Kind {
	case present.Diff:
		return wrapAll(diffLines(head.Content, whole), n, cont)
	case present.Command:
		return commandRows(head, n)
	case present.File:
		return wrapAll(highlight(head.Language, head.Content), n, cont)
	case present.Structured:
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
