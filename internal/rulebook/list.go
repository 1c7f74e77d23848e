package rulebook

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// List prints rules for a person, in the order in which they are looked at: denies first.
func List(w io.Writer, entries []Entry, now time.Time) error {
	if len(entries) == 0 {
		_, err := fmt.Fprintln(w, "There are no rules.")
		return err
	}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int { return order(a) - order(b) })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%s\t%s%s\n", present.SafeLine(ShortID(e.ID)), e.standing(now), present.SafeLine(e.String()), remarks(e))
	}
	return t.Flush()
}

func order(e Entry) int {
	if e.Effect == approval.Deny {
		return 0
	}
	return 1
}

// standing says whether the rule holds.
func (e *Entry) standing(now time.Time) string {
	switch {
	case !e.Enabled:
		return "off"
	case !e.Expires.IsZero() && !now.Before(e.Expires):
		return "ended"
	}
	return "on"
}

// remarks are further lines about a rule, below its text.
func remarks(e Entry) string {
	var b strings.Builder
	line := func(word, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n\t\t  %s: %s", word, present.SafeLine(text))
		}
	}
	line("because", e.Because)
	line("note", e.Note)
	if !e.Expires.IsZero() {
		line("until", e.Expires.Local().Format(time.DateTime))
	}
	return b.String()
}
