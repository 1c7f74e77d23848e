package term

import (
	"github.com/assent-dev/assent/present"
)

// A page is what is shown of a request: rows of at most some width, and what is missing.
type page struct {
	rows []line
	cut  bool // the view is longer than its limit; v shows the rest
	// headOnly says that the view itself has only the head of what it is about.
	headOnly bool
}

// viewRows lays a view out: the head of it that is within the limit, and a note of how
// much is not.
func viewRows(view present.View, limit present.Limit, n int) page {
	cut := view.Cut(limit)
	var rows []line
	header := factsLine(view.Facts)
	if header != "" && view.Kind != present.Command {
		rows = append(wrap(styled(faint, header), n, nil), nil)
	}
	rows = append(rows, contentRows(cut.View, view.Content, n)...)
	if header != "" && view.Kind == present.Command {
		rows = append(append(rows, nil), wrap(text(capital(header)), n, nil)...)
	}
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
	return page{rows: rows, cut: cut.Chars > 0 || headOnly, headOnly: headOnly}
}

// contentRows lays out the head of the content by its kind.
func contentRows(head present.View, whole string, n int) []line {
	cont := styled(faint, "↳ ")
	if head.Content == "" {
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
