package kept

import (
	"slices"
	"time"

	"github.com/assent-dev/assent/policy"
)

// AddRules returns all with rules behind them, each checked against those before it. One without an id gets a new
// one.
func AddRules(all, rules []policy.Rule, limit int, newID func() string) ([]policy.Rule, error) {
	for _, r := range rules {
		if err := policy.CheckNewRule(all, r, limit); err != nil {
			return nil, err
		}
		if r.ID == "" {
			r.ID = newID()
		}
		all = append(all, r)
	}
	return all, nil
}

// ChangeRule calls f with the place of a rule. One that is not there is [policy.ErrRuleNotFound].
func ChangeRule(all []policy.Rule, id string, f func(all []policy.Rule, i int) []policy.Rule) ([]policy.Rule, error) {
	i := slices.IndexFunc(all, func(r policy.Rule) bool { return r.ID == id })
	if i < 0 {
		return nil, &policy.RuleError{Err: policy.ErrRuleNotFound, Rule: id}
	}
	return f(all, i), nil
}

// UnexpiredRules leaves out the allows that have expired by a clock that is ahead of the gate's.
func UnexpiredRules(set *policy.RuleSet, now time.Time) (*policy.RuleSet, error) {
	gone := func(r policy.Rule) bool { return r.Effect == policy.EffectAllow && expired(r.Expires, now) }
	rules := set.Rules()
	if !slices.ContainsFunc(rules, gone) {
		return set, nil
	}
	return policy.CompileRules(slices.DeleteFunc(rules, gone))
}

// UnexpiredGrants is UnexpiredRules for grants.
func UnexpiredGrants(set *policy.GrantSet, now time.Time) *policy.GrantSet {
	gone := func(g policy.Grant) bool { return g.Effect == policy.EffectAllow && expired(g.Expires, now) }
	grants := set.Grants()
	if !slices.ContainsFunc(grants, gone) {
		return set
	}
	return policy.NewGrantSet(slices.DeleteFunc(grants, gone))
}

func expired(end, now time.Time) bool { return !end.IsZero() && !now.Before(end) }
