package rulebook

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// List prints rules for a person, in the order in which they are looked at: denies first.
func List(w io.Writer, rules []policy.Rule, now time.Time) error {
	if len(rules) == 0 {
		_, err := fmt.Fprintln(w, "There are no rules.")
		return err
	}
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b policy.Rule) int { return order(a) - order(b) })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rules {
		fmt.Fprintf(t, "%s\t%s\t%s%s\n", present.SafeLine(ShortID(r.ID)), standing(r, now), present.SafeLine(r.String()), remarks(r))
	}
	return t.Flush()
}

func order(r policy.Rule) int {
	if r.Effect == policy.EffectDeny {
		return 0
	}
	return 1
}

// standing says whether the rule holds.
func standing(r policy.Rule, now time.Time) string {
	switch {
	case !r.Enabled:
		return "off"
	case !r.Expires.IsZero() && !now.Before(r.Expires):
		return "ended"
	}
	return "on"
}

// remarks are further lines about a rule, below its text.
func remarks(r policy.Rule) string {
	var b strings.Builder
	line := func(word, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n\t\t  %s: %s", word, present.SafeLine(text))
		}
	}
	line("because", r.Because)
	line("note", r.Note)
	if !r.Expires.IsZero() {
		line("until", r.Expires.Local().Format(time.DateTime))
	}
	return b.String()
}
