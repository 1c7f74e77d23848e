package approval_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// halved is a store of which one half cannot be read.
type halved struct {
	*approval.Memory
	rules, grants error
}

func (b halved) Rules(ctx context.Context) (*policy.RuleSet, error) {
	set, err := b.Memory.Rules(ctx)
	return set, errors.Join(err, b.rules)
}

func (b halved) Grants(ctx context.Context, session string) (*policy.GrantSet, error) {
	set, err := b.Memory.Grants(ctx, session)
	return set, errors.Join(err, b.grants)
}

func TestIsDenied(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	read := func(path string) policy.Act {
		return policy.Act{Name: policy.ActReadFile, Target: policy.PathTarget(path), Known: true}
	}
	kept := approval.NewMemory(0)
	rule, err := policy.ParseRule("deny read_file(kept/**)")
	if err != nil {
		t.Fatal(err)
	}
	rule.ID = "1"
	if err := kept.AddRules(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	err = kept.AddGrants(t.Context(), policy.Grant{ID: "2", Session: "s", Effect: policy.EffectDeny, Reach: policy.ReachExact, Act: read("told/a"), Created: now})
	if err != nil {
		t.Fatal(err)
	}
	fixed := approvaltest.Rules(t, "deny read_file(fixed/**)", "deny connect(10.0.0.1:443)", "allow read_file(kept/**)")
	other := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		store   halved
		session string
		act     policy.Act
		want    bool
	}{
		"by a rule that is kept":        {halved{kept, nil, nil}, "s", read("kept/a"), true},
		"by a rule of a file":           {halved{kept, nil, nil}, "s", read("fixed/a"), true},
		"for the session":               {halved{kept, nil, nil}, "s", read("told/a"), true},
		"for another session":           {halved{kept, nil, nil}, "t", read("told/a"), false},
		"by nothing":                    {halved{kept, nil, nil}, "s", read("free/a"), false},
		"perhaps, which is asked":       {halved{kept, nil, nil}, "s", policy.Act{Name: policy.ActReadFile, Target: policy.UnknownTarget(policy.KindPath)}, false},
		"an address, without a verdict": {halved{kept, nil, nil}, "s", policy.Act{Name: policy.ActConnect, Target: policy.HostTarget("10.0.0.1", "443"), Known: true}, true},
		"rules that cannot be read":     {halved{kept, other, nil}, "s", read("free/a"), true},
		"grants that cannot be read":    {halved{kept, nil, other}, "s", read("free/a"), true},
	} {
		for _, verdict := range []policy.Verdict{policy.VerdictBlock, policy.VerdictAsk, policy.VerdictFree} {
			c.act.Verdict = verdict
			if got := approval.IsDenied(t.Context(), c.store, policy.Call{Session: c.session}, fixed, c.act, now); got != c.want {
				t.Errorf("%s, where the tool says %s: %v", name, verdict, got)
			}
		}
	}
	meets, by := policy.Policy{Fixed: fixed}.Denies(policy.Call{}, read("fixed/a"), now)
	if meets != policy.MatchYes || by == nil || by.String() != "deny read_file(fixed/**)" {
		t.Errorf("%v by %v", meets, by)
	}
	if meets, _ := (policy.Policy{Fixed: fixed}).Denies(policy.Call{}, policy.Act{Name: policy.ActReadFile, Target: policy.UnknownTarget(policy.KindPath)}, now); meets != policy.MatchPossibly {
		t.Errorf("an unknown path: %v", meets)
	}
}
