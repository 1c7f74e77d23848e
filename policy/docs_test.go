package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
)

// Every example in the reference of the rule language is a rule.
func TestRulesPage(t *testing.T) {
	text, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks, rules := strings.Split(string(text), "```rules\n")[1:], 0
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			rule, means, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
			if !ok || strings.TrimSpace(means) == "" {
				t.Errorf("%q: it does not say what it means", line)
			}
			parsed, err := policy.ParseRule(rule)
			if err == nil {
				err = parsed.Validate()
			}
			if err != nil {
				t.Errorf("%q: %v", rule, err)
			}
			rules++
		}
	}
	if len(blocks) < 5 || rules < 25 {
		t.Errorf("there are %d rules in %d blocks; are they still marked as rules?", rules, len(blocks))
	}
}
