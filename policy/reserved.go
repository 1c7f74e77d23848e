package policy

import (
	"fmt"
	"slices"
	"time"
)

// A Reservation says that only certain people decide about some acts.
type Reservation struct {
	// Acts are patterns as rules have them, such as shell(kubectl delete *), pay:* or connector github. They are
	// met as those of denies are: what may be such an act counts as one.
	Acts []string
	// Source names the entry that says so, such as "deciders 2".
	Source string
	// Because is the reason that a person reads; empty stands for one that names the source.
	Because string
}

func (r *Reservation) why() string {
	if r.Because != "" {
		return r.Because
	}
	return fmt.Sprintf("the team's policy names who decides about this (%s)", r.Source)
}

// Reserved is an immutable set of reservations. No rule, grant or mode answers what it meets, and neither is
// that free. The nil Reserved has none, and costs a judgement nothing.
type Reserved struct {
	all     *RuleSet // what meets an act at all, in one look
	entries []*RuleSet
	whys    map[string]string // by the id of a rule of all
}

// Reserve compiles reservations for the machine that the ground describes. The error, if any, names the
// reservation: one that would meet nothing is refused.
func Reserve(on Ground, entries []Reservation) (*Reserved, error) {
	out := &Reserved{entries: make([]*RuleSet, len(entries)), whys: make(map[string]string, len(entries))}
	var all []Rule
	for i := range entries {
		e := &entries[i]
		if len(e.Acts) == 0 {
			return nil, fmt.Errorf("%s: it names no acts", e.Source)
		}
		id := fmt.Sprint(i + 1)
		var rules []Rule
		for _, act := range e.Acts {
			rule, err := on.Parse(string(EffectDeny) + " " + act)
			if err != nil {
				return nil, fmt.Errorf("%s: acts: %w", e.Source, err)
			}
			rule.ID, rule.Source = id, e.Source
			rules = append(rules, rule)
		}
		set, err := CompileRules(rules)
		if err != nil {
			return nil, fmt.Errorf("%s: acts: %w", e.Source, err)
		}
		out.entries[i], out.whys[id] = set, e.why()
		all = append(all, rules...)
	}
	var err error
	out.all, err = CompileRules(all)
	return out, err
}

// By returns the indices of the reservations that one of the acts meets, or may meet, as a judgement sees it.
func (r *Reserved) By(call *Call, acts []Act, now time.Time) (met []int) {
	if r == nil {
		return nil
	}
	for i, set := range r.entries {
		if slices.ContainsFunc(acts, func(a Act) bool { return reserves(set, call, &a, now) != nil }) {
			met = append(met, i)
		}
	}
	return met
}

// why returns why only certain people decide about an act; empty if anybody does.
func (r *Reserved) why(call *Call, act *Act, now time.Time) string {
	if rule := reserves(r.all, call, act, now); rule != nil {
		return r.whys[rule.ID]
	}
	return ""
}

// reserves finds what reserves the act. As with a deny, what an act may turn out to do is left to that act, if
// it is judged when it happens.
func reserves(set *RuleSet, call *Call, act *Act, now time.Time) *Rule {
	rule, meets := set.denied(call, act, now)
	if meets == MatchYes || meets == MatchPossibly && !act.Later {
		return rule
	}
	return nil
}
