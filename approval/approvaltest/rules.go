package approvaltest

import (
	"testing"

	"github.com/assent-dev/assent/approval"
)

// Rules returns the rules that the lines say, such as "allow read_file(notes/**)".
func Rules(t testing.TB, lines ...string) *approval.RuleSet {
	t.Helper()
	var all []approval.Rule
	for _, line := range lines {
		r, err := approval.ParseRule(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	set, err := approval.CompileRules(all)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
