package config

import (
	"slices"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

// addShell puts what a file says about commands over what the earlier ones say: its rules
// come first, and its default wins if it has one. A default that denies means that only what
// the rules of its own file name can run; admitted are those that the file would have if
// it were trusted, and nil if it is.
func (c *combination) addShell(p *Policy, more shell.Config, admitted []shell.Rule) {
	have := &c.policy.Shell
	upper, lower := more.Rules, have.Rules
	upperDenies, lowerDenies := more.Default.Approval == tool.WordDeny, have.Default.Approval == tool.WordDeny
	if lowerDenies {
		upper = c.confined(p, upper, have.Rules)
	}
	if upperDenies {
		lower = c.confined(p, lower, admitted)
	}
	switch {
	case upperDenies && lowerDenies:
		have.Readonly = have.Readonly && more.Readonly
	case upperDenies:
		have.Readonly = more.Readonly && (admitted == nil || have.Readonly)
	case !lowerDenies:
		have.Readonly = have.Readonly || more.Readonly
	}
	if said := more.Default.Approval != "" || more.Default.ByEffect || more.Default.WhenSandboxed != ""; said && !lowerDenies {
		have.Default = more.Default
	}
	have.Rules = slices.Concat(upper, lower)
	have.Env = slices.Compact(slices.Sorted(slices.Values(slices.Concat(have.Env, more.Env))))
	if more.JudgeSource != "" {
		have.Running, have.JudgeSource = more.Running, more.JudgeSource
	}
	if more.Hold > 0 {
		have.Hold = more.Hold
	}
	if more.Cwd != "" || have.Source == "" {
		have.Cwd, have.Source = more.Cwd, more.Source
	}
}

// confined returns the rules as far as a tier admits them that denies what its own rules do
// not name. Denies stay. A rule that asks and of which no part is known to be admitted
// denies.
func (c *combination) confined(p *Policy, rules, admits []shell.Rule) []shell.Rule {
	var out []shell.Rule
	for _, r := range rules {
		if r.Approval == tool.WordDeny {
			out = append(out, r)
			continue
		}
		parts := admittedParts(r, admits)
		if len(parts) == 0 && r.Approval != tool.WordAllow && len(admits) > 0 && len(r.Paths) == 0 {
			r.Approval, r.Reason = tool.WordDeny, "not among the commands that are allowed"
			parts = append(parts, r)
		}
		out = append(out, parts...)
	}
	return out
}

// admittedParts are the commands that both the rule and one of admits is about. Of two
// patterns that overlap one is always a prefix of the other.
func admittedParts(r shell.Rule, admits []shell.Rule) []shell.Rule {
	mine, err := policy.CompileCommand(r.Pattern)
	if err != nil {
		return nil // it was refused when the file was read
	}
	var out []shell.Rule
	for _, a := range admits {
		theirs, err := policy.CompileCommand(a.Pattern)
		if err != nil || a.Approval == tool.WordDeny {
			continue
		}
		part := r
		part.Except = slices.Concat(r.Except, a.Except)
		switch {
		case theirs.Hides(mine):
		case mine.Hides(theirs):
			part.Pattern = a.Pattern
		default:
			continue
		}
		var some bool
		if part.Paths, some = bothPaths(r.Paths, a.Paths); some {
			out = append(out, part)
		}
	}
	return out
}

// bothPaths returns the roots that both lists name; no list means all.
func bothPaths(a, b []string) (both []string, some bool) {
	if len(a) == 0 {
		return b, true
	}
	if len(b) == 0 {
		return a, true
	}
	for _, name := range a {
		if slices.Contains(b, name) {
			both = append(both, name)
		}
	}
	return both, len(both) > 0
}
