package rulebook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
)

// A Change is one difference between two lists of rules.
type Change struct {
	// Sign is + for a new rule, - for one that is gone, ~ for one that is different.
	Sign   string
	Before policy.Rule
	After  policy.Rule
}

// String says what changes, in a line.
func (c Change) String() string {
	switch c.Sign {
	case "-":
		return "- " + c.Before.String() + special(c.Before)
	case "+":
		return "+ " + c.After.String() + special(c.After)
	}
	return fmt.Sprintf("~ %s: %s", c.Before, strings.Join(c.details(), "; "))
}

// special says what is special about a rule.
func special(r policy.Rule) string {
	var out []string
	if r.Project != "" {
		out = append(out, r.Where())
	}
	if !r.Enabled {
		out = append(out, disabledWord)
	}
	if !r.Expires.IsZero() {
		out = append(out, untilWord+r.Expires.Local().Format(time.DateTime))
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

func (c Change) details() []string {
	var out []string
	add := func(changed bool, format string, args ...any) {
		if changed {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	b, a := c.Before, c.After
	add(a.String() != b.String(), "now %s", a)
	add(a.Project != b.Project, "now %s", a.Where())
	add(a.Enabled && !b.Enabled, "enabled")
	add(!a.Enabled && b.Enabled, "disabled")
	add(a.Because != b.Because, "because %q", a.Because)
	add(a.Note != b.Note, "note %q", a.Note)
	add(!a.Expires.Equal(b.Expires) && a.Expires.IsZero(), "no longer ends")
	add(!a.Expires.Equal(b.Expires) && !a.Expires.IsZero(), "ends at %s", a.Expires.Local().Format(time.DateTime))
	return out
}

// Widens reports whether more could be allowed after the change than before.
func (c Change) Widens() bool {
	return c.Sign != "-" && c.After.Enabled && c.After.Effect == policy.EffectAllow &&
		(c.After.String() != c.Before.String() || c.After.Project != c.Before.Project || !c.Before.Enabled ||
			!c.After.Expires.Equal(c.Before.Expires))
}

// Changes returns what is different in after. Rules are the same by their id; without one,
// by their text and project.
func Changes(before, after []policy.Rule) []Change {
	var out []Change
	for _, b := range before {
		i := slices.IndexFunc(after, func(a policy.Rule) bool { return a.ID == b.ID })
		switch {
		case i < 0:
			out = append(out, Change{Sign: "-", Before: b})
		case !b.Same(after[i]):
			out = append(out, Change{"~", b, after[i]})
		}
	}
	for _, a := range after {
		if !slices.ContainsFunc(before, func(b policy.Rule) bool { return b.ID == a.ID }) {
			out = append(out, Change{Sign: "+", After: a})
		}
	}
	return out
}

// Identify gives every rule an id and a time: those of the rule in before that it is, else
// new ones. An id that stands twice, or that before does not have, counts for nothing.
func Identify(before, after []policy.Rule, newID func() string, now time.Time) []policy.Rule {
	out := slices.Clone(after)
	taken := map[string]bool{}
	known := func(ok func(policy.Rule) bool) *policy.Rule {
		i := slices.IndexFunc(before, func(b policy.Rule) bool { return !taken[b.ID] && ok(b) })
		if i < 0 {
			return nil
		}
		return &before[i]
	}
	claim := func(r, b *policy.Rule) {
		taken[b.ID] = true
		r.ID, r.Created = b.ID, b.Created
	}
	for i := range out {
		if b := known(func(b policy.Rule) bool { return b.ID == out[i].ID }); b != nil {
			claim(&out[i], b)
		} else {
			out[i].ID = ""
		}
	}
	for i := range out {
		if out[i].ID != "" {
			continue
		}
		same := func(b policy.Rule) bool { return b.String() == out[i].String() && b.Project == out[i].Project }
		if b := known(same); b != nil {
			claim(&out[i], b)
			continue
		}
		out[i].ID, out[i].Created = newID(), now
	}
	return out
}
