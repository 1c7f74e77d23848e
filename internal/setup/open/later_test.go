package open

import (
	"context"
	"errors"
	"testing"
	"time"

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

// What a team decides about in files keeps commands from running only because they are held; what it decides about elsewhere
// does not.
func TestDecidedFile(t *testing.T) {
	for acts, want := range map[string]string{
		"":                          "",
		"shell(kubectl delete *)":   "",
		"pay:*":                     "",
		"write_file(prod/**)":       "what people of the team decide about (write_file)",
		"delete_file(notes/a.md)":   "what people of the team decide about (delete_file)",
		"read_file(**/salaries.md)": "what people of the team decide about (read_file)",
	} {
		var entries []policy.Reservation
		if acts != "" {
			entries = []policy.Reservation{{Acts: []string{acts}, Source: "team"}}
		}
		reserved, err := policy.Reserve(config.Ground(), entries)
		if err != nil {
			t.Fatal(err)
		}
		decided := func(call policy.Call, act policy.Act) bool {
			return len(reserved.By(&call, []policy.Act{act}, time.Now())) > 0
		}
		if said := decidedFile(decided); said != want {
			t.Errorf("%s: %q, not %q", acts, said, want)
		}
	}
}
