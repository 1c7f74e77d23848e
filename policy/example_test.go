package policy_test

import (
	"fmt"

	"github.com/assent-dev/assent/policy"
)

// A deny reaches as much as its words may mean, an allow as little as they say.
func ExamplePolicy_Judge() {
	var rules []policy.Rule
	for _, text := range []string{"allow shell(git status)", "deny shell(git push)"} {
		rule, err := policy.ParseRule(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		rules = append(rules, rule)
	}
	set, err := policy.CompileRules(rules)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, words := range [][]string{{"git", "status"}, {"git", "-C", "sub", "push"}, {"git", "commit"}} {
		act := policy.Act{Name: policy.ActShell, Verdict: policy.VerdictAsk}
		act.Target = policy.Target{Kind: policy.KindWords}
		for _, w := range words {
			act.Target.Words = append(act.Target.Words, policy.Word{Text: w})
		}
		judged := policy.Policy{Rules: set}.Judge(policy.Question{
			Call: &policy.Call{Tool: policy.ActShell}, Acts: []policy.Act{act},
		})
		fmt.Println(act, judged.State)
	}
	// Output:
	// shell(git status) auto-approved
	// shell(git -C sub push) auto-denied
	// shell(git commit) pending
}
