package check

import (
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// hidden warns of what can never decide anything because something else always does.
func (l *look) hidden() {
	l.hiddenTools(l.policy.Tools.Tools)
	rules := l.policy.Rules.Rules()
	for i, r := range rules {
		for j, other := range rules {
			if i == j || r.Effect == policy.EffectExcept || !hides(other, r) {
				continue
			}
			if other.Effect == policy.EffectDeny && r.Effect == policy.EffectAllow {
				l.warn(r.Source, "%s never holds: %s (%s) denies all of it", r, other, other.Source)
				break
			}
			if other.Effect == r.Effect && (j < i || !hides(r, other)) {
				l.warn(r.Source, "%s says nothing more than %s (%s)", r, other, other.Source)
				break
			}
		}
	}
}

// hides reports whether a rule surely matches all that another does.
func hides(wide, narrow policy.Rule) bool {
	if wide.Scope != narrow.Scope || wide.Effect == policy.EffectExcept {
		return false
	}
	if strings.EqualFold(wide.Pattern, narrow.Pattern) {
		return true
	}
	wideName, wideTarget, _ := strings.Cut(strings.TrimSuffix(wide.Pattern, ")"), "(")
	name, target, _ := strings.Cut(strings.TrimSuffix(narrow.Pattern, ")"), "(")
	if !strings.EqualFold(wideName, name) {
		return false
	}
	if wideTarget == "" || wideTarget == "*" || wideTarget == "**" {
		return true
	}
	if name != policy.ActShell || target == "" {
		return false
	}
	w, err := policy.CompileCommand(wideTarget)
	if err != nil {
		return false
	}
	n, err := policy.CompileCommand(target)
	return err == nil && w.Hides(n)
}

// hiddenTools warns of entries behind one that matches the same tool. A deny is never
// hidden.
func (l *look) hiddenTools(entries []tool.Named) {
	for i, e := range entries {
		if e.Approval == "" || e.Approval == tool.WordDeny || strings.ContainsAny(e.Name, "*?[") {
			continue
		}
		connector, name, ok := strings.Cut(e.Name, ":")
		if !ok {
			connector, name = "", e.Name
		}
		for j, first := range entries {
			if first.Approval == "" || j == i || j > i && first.Approval != tool.WordDeny {
				continue
			}
			pattern, err := policy.CompileName(policy.EffectAllow, first.Name)
			if err == nil && pattern.Match(connector, name) {
				l.warn(e.Source, "what is said about tool %s is never used: %s (%s) decides", e.Name, first.Name,
					first.Source)
				break
			}
		}
	}
}
