package approvaltest

import (
	"testing"

	"github.com/assent-dev/assent/policy"
)

// Rules returns the rules that the lines say, such as "allow read_file(notes/**)".
func Rules(t testing.TB, lines ...string) *policy.RuleSet {
	t.Helper()
	var all []policy.Rule
	for _, line := range lines {
		r, err := policy.ParseRule(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	set, err := policy.CompileRules(all)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
