package permissions

import (
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
)

// exceptions finds entries that decide about a part of what another one says. Rules know no exceptions: an allow
// would be too wide, and a deny that a later entry lifts for some calls would be too wide as well.
func (l *lister) exceptions() {
	for i := range l.entries {
		e := &l.entries[i]
		for _, other := range l.entries {
			above := other.Rank > e.Rank || other.Rank == e.Rank && other.Effect == EffectAsk
			if other.Effect == e.Effect || !above || !overlap(*e, other) {
				continue
			}
			switch {
			case e.Effect == policy.EffectAllow && other.Effect == EffectAsk:
				e.Except = append(e.Except, other.Text)
			case e.Effect == policy.EffectDeny && slices.ContainsFunc(e.Rules, everything):
				e.Rules, e.Differs = nil, ""
				e.Missing = "other entries make exceptions to it, which rules cannot; assent asks about what no rule allows"
			case e.Effect == policy.EffectDeny:
				e.Differs = other.Text + " makes no exception to it here"
			}
		}
	}
}

// overlap reports whether two entries may be about the same call. An entry that no rule says may be about any.
func overlap(a, b Entry) bool {
	if len(a.Rules) == 0 || len(b.Rules) == 0 {
		return len(a.Rules) > 0 && b.Missing != "" && sameTool(a.Text, b.Text)
	}
	return slices.ContainsFunc(a.Rules, func(x policy.Rule) bool {
		return slices.ContainsFunc(b.Rules, func(y policy.Rule) bool { return meet(x, y) })
	})
}

// sameTool reports whether two entries begin with the same name.
func sameTool(a, b string) bool {
	name := func(text string) string {
		return strings.FieldsFunc(text+" ", func(r rune) bool { return r == '(' || r == ' ' })[0]
	}
	return name(a) == name(b)
}

// everything reports whether a rule is about all that a tool may do.
func everything(r policy.Rule) bool {
	_, target := parts(r)
	return target == "" || target == "*" || target == "**"
}

// meet reports whether two rules may be about the same act. It is generous.
func meet(x, y policy.Rule) bool {
	name, target := parts(x)
	otherName, other := parts(y)
	switch {
	case name != otherName && !strings.Contains(name+otherName, "*") && !strings.HasPrefix(otherName, "connector "):
		return false
	case name != policy.ActShell:
		head, _, _ := strings.Cut(target, "*")
		otherHead, _, _ := strings.Cut(other, "*")
		return strings.HasPrefix(head, otherHead) || strings.HasPrefix(otherHead, head)
	}
	words := commandWords(target)
	others := commandWords(other)
	n := min(len(words), len(others))
	return slices.Equal(words[:n], others[:n])
}

// commandWords are the words that a rule about commands spells.
func commandWords(target string) []string {
	return strings.Fields(strings.TrimSuffix(strings.TrimPrefix(target, "= "), "*"))
}

// parts are the name of a rule's tool, and its target.
func parts(r policy.Rule) (name, target string) {
	if r.Scope == policy.ScopeConnector {
		return "connector " + r.Pattern, ""
	}
	name, target, _ = strings.Cut(strings.TrimSuffix(r.Pattern, ")"), "(")
	return name, target
}
