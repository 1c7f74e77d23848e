package open

import (
	"context"
	"errors"
	"testing"

	"github.com/assent-dev/assent/approval"
)

func TestLaterDeny(t *testing.T) {
	parsed := func(text string) approval.Rule {
		r, err := approval.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	old, allow, later := parsed("deny read_file(a)"), parsed("allow read_file(b)"), parsed("deny read_file(c)")
	denied := approval.Grant{Effect: approval.Deny, Act: approval.Act{Name: "read_file"}, Reach: approval.Tool}
	for name, c := range map[string]struct {
		rules  []approval.Rule
		grants []approval.Grant
		err    error
		want   bool
	}{
		"nothing new":    {rules: []approval.Rule{old}},
		"an allow":       {rules: []approval.Rule{old, allow}},
		"a deny":         {rules: []approval.Rule{old, later}, want: true},
		"for a session":  {rules: []approval.Rule{old}, grants: []approval.Grant{denied}, want: true},
		"cannot be read": {rules: []approval.Rule{old}, err: errors.New("locked"), want: true},
	} {
		rules := func(context.Context) (*approval.RuleSet, error) {
			set, err := approval.CompileRules(c.rules)
			return set, errors.Join(err, c.err)
		}
		grants := func(context.Context) ([]approval.Grant, error) { return c.grants, nil }
		if said := laterDeny([]approval.Rule{old}, rules, grants)(); (said != "") != c.want {
			t.Errorf("%s: it says %q", name, said)
		}
	}
}
