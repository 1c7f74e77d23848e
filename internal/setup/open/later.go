package open

import (
	"context"
	"slices"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
)

// laterDeny returns what says which deny of a project came after some rules were read, or after those of the policy
// were: files that it is about are not hidden from commands. Grants are those of the sessions that ask.
func laterDeny(project string, since []policy.Rule, conf config.Rules, rules func(context.Context) (*policy.RuleSet, error),
	grants func(context.Context) ([]policy.Grant, error)) func() string {
	first := named(since)
	return func() string {
		fixed, fixedErr := conf.Current()
		now, rulesErr := rules(context.Background())
		granted, grantsErr := grants(context.Background())
		if fixedErr != nil || rulesErr != nil || grantsErr != nil {
			return allDenied + "the current denies cannot be read"
		}
		later := newDeny(project, first, now)
		if later == "" && fixed != conf.Set {
			later = newDeny(project, named(conf.Set.Rules()), fixed)
		}
		if later != "" {
			return allDenied + later
		}
		if i := slices.IndexFunc(granted, func(g policy.Grant) bool { return g.Effect == policy.EffectDeny }); i >= 0 {
			return allDenied + granted[i].String() + ", for this session"
		}
		return ""
	}
}

// allDenied begins what the sandbox does not hold.
const allDenied = "everything that a rule denies: "

// decidedFile says which files people of the team decide about, by the newest policy; empty if there are none. The sandbox
// holds none of these: what was approved must be able to write them.
func decidedFile(decided func(policy.Call, policy.Act) bool) string {
	for _, name := range []string{policy.ActWriteFile, policy.ActDeleteFile, policy.ActReadFile} {
		if decided(policy.Call{}, policy.Act{Name: name, Target: policy.UnknownTarget(policy.KindPath)}) {
			return "what people of the team decide about (" + name + ")"
		}
	}
	return ""
}

func named(rules []policy.Rule) map[string]bool {
	out := make(map[string]bool, len(rules))
	for i := range rules {
		out[rules[i].String()] = true
	}
	return out
}

// newDeny is a deny that was not there before; empty if there is none.
func newDeny(project string, before map[string]bool, now *policy.RuleSet) string {
	for _, r := range now.Rules() {
		if r.Effect == policy.EffectDeny && r.HoldsIn(project) && !before[r.String()] {
			return r.String() + ", which is newer than the sandbox"
		}
	}
	return ""
}
