package terminal

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

// requestPage lays out a request: what it would do, why it asks, its acts, its view. The
// acts of a command stand below it, each with its own reason: they are its parts.
func requestPage(it *item, limit present.Limit, n int) page {
	r := it.request
	rows := wrap(styled(strong, present.SafeLine(r.Summary)), n, nil)
	rows = append(rows, wrap(line{{"Asks because: ", faint}, {present.SafeLine(r.Why), plain}}, n, nil)...)
	rows = append(rows, it.about.rows(n)...)
	if r.PersonOnly {
		rows = append(rows, wrap(styled(warn, "Only a person may answer this, each time."), n, nil)...)
	}
	var out page
	shown := wrap(styled(bad, "What it would do cannot be shown: "+errorText(it.err)), n, nil)
	if it.err == nil {
		out = viewRows(it.view, limit, n)
		shown = out.rows
	}
	if it.view.Kind == present.Command {
		out.rows = divided(rows, shown, actRows(r, n))
	} else {
		out.rows = divided(append(rows, shortActRows(r, n)...), shown)
	}
	return out
}

// divided puts a line across the box between the parts that are not empty.
func divided(parts ...[]line) []line {
	var rows []line
	for _, part := range parts {
		if len(rows) > 0 && len(part) > 0 {
			rows = append(rows, divider)
		}
		rows = append(rows, part...)
	}
	return rows
}

// errorText is an error, safe to show; nothing if there is none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return present.SafeLine(err.Error())
}
