package rulebook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/realpath"
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%s%s\n", present.SafeLine(ShortID(r.ID)), standing(r, now),
			present.SafeLine(where(r)), present.SafeLine(r.String()), remarks(r))
	}
	return t.Flush()
}

// where says in which project the rule holds.
func where(r policy.Rule) string {
	if r.Project == "" {
		return r.Where()
	}
	return "in " + config.ShortPath(r.Project)
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
			fmt.Fprintf(&b, "\n\t\t\t  %s: %s", word, present.SafeLine(text))
		}
	}
	line("because", r.Because)
	line("note", r.Note)
	if !r.Expires.IsZero() {
		line("until", r.Expires.Local().Format(time.DateTime))
	}
	line("project", Gone(r.Project))
	line("warning", Stale(r))
	return b.String()
}

// Stale says why a saved rule matches nothing; empty if it may. Rules were saved with ~ in them
// when that meant nothing, and a folder may have become a link.
func Stale(r policy.Rule) string {
	switch again, err := config.ParseRule(r.String()); {
	case err != nil:
		var fault *policy.RuleError
		if errors.As(err, &fault) {
			return "it matches nothing: " + fault.Detail
		}
		return err.Error()
	case again.Pattern != r.Pattern:
		return "it matches nothing as it is saved; remove it and add " + again.String()
	}
	return ""
}

// Gone says why calls of a project cannot come from its folder any more; empty if they can.
func Gone(folder string) string {
	if folder == "" {
		return ""
	}
	switch real, err := realpath.Resolve(folder); {
	case err != nil:
		return err.Error()
	case realpath.Case(real) != folder:
		return "the folder now leads to " + real + "; this rule no longer applies to anything"
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "the folder is gone; move it back, or remove this rule"
	}
	return ""
}

// Find returns the rule that a person means: by its id, the beginning of it, or the text
// of the rule. The error is a [*policy.RuleError].
func Find(rules []policy.Rule, word string) (policy.Rule, error) {
	var found []policy.Rule
	for _, r := range rules {
		if r.ID == word {
			return r, nil
		}
		if r.String() == word {
			found = append(found, r)
		}
		if len(word) >= minPrefix && len(r.ID) > len(word) && strings.EqualFold(r.ID[:len(word)], word) {
			found = append(found, r)
		}
	}
	detail := "several rules match; write more of the id that 'assent rules list' prints"
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		detail = "'assent rules list' prints the ids"
	}
	return policy.Rule{}, &policy.RuleError{Err: policy.ErrRuleNotFound, Rule: word, Detail: detail}
}

// minPrefix is how much of an id has to be given, shownID how much is shown.
const (
	minPrefix = 4
	shownID   = 8
)

// ShortID returns the beginning of an id, which is enough to name a rule or grant.
func ShortID(id string) string {
	if len(id) > shownID && !strings.ContainsAny(id, ":./ ") {
		return id[:shownID]
	}
	return id
}
