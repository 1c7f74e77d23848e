package open

import (
	"context"
	"slices"

	"github.com/assent-dev/assent/policy"
)

// laterDeny returns what says which deny of a project came after some rules were read: files that
// it is about are not hidden from commands. Grants are those of the sessions that ask.
func laterDeny(project string, since []policy.Rule, rules func(context.Context) (*policy.RuleSet, error),
	grants func(context.Context) ([]policy.Grant, error)) func() string {
	known := map[string]bool{}
	for _, r := range since {
		known[r.String()] = true
	}
	return func() string {
		now, rulesErr := rules(context.Background())
		granted, grantsErr := grants(context.Background())
		if rulesErr != nil || grantsErr != nil {
			return "the current denies cannot be read"
		}
		for _, r := range now.Rules() {
			if r.Effect == policy.EffectDeny && r.HoldsIn(project) && !known[r.String()] {
				return r.String() + ", which is newer than the sandbox"
			}
		}
		if i := slices.IndexFunc(granted, func(g policy.Grant) bool { return g.Effect == policy.EffectDeny }); i >= 0 {
			return granted[i].String() + ", for this session"
		}
		return ""
	}
}
