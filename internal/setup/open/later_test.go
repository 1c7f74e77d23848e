package open

import (
	"context"
	"errors"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
)

func TestLaterDeny(t *testing.T) {
	parsed := func(text string) policy.Rule {
		r, err := policy.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	old, allow, later := parsed("deny read_file(a)"), parsed("allow read_file(b)"), parsed("deny read_file(c)")
	denied := policy.Grant{Effect: policy.EffectDeny, Act: policy.Act{Name: "read_file"}, Reach: policy.ReachTool}
	for name, c := range map[string]struct {
		rules  []policy.Rule
		grants []policy.Grant
		err    error
		want   bool
	}{
		"nothing new":    {rules: []policy.Rule{old}},
		"an allow":       {rules: []policy.Rule{old, allow}},
		"a deny":         {rules: []policy.Rule{old, later}, want: true},
		"for a session":  {rules: []policy.Rule{old}, grants: []policy.Grant{denied}, want: true},
		"cannot be read": {rules: []policy.Rule{old}, err: errors.New("locked"), want: true},
	} {
		rules := func(context.Context) (*policy.RuleSet, error) {
			set, err := policy.CompileRules(c.rules)
			return set, errors.Join(err, c.err)
		}
		grants := func(context.Context) ([]policy.Grant, error) { return c.grants, nil }
		if said := laterDeny("", []policy.Rule{old}, config.Rules{}, rules, grants)(); (said != "") != c.want {
			t.Errorf("%s: it says %q", name, said)
		}
	}
}
