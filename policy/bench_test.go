package policy

import (
	"fmt"
	"testing"
	"time"
)

// benchRules returns n rules, of which a share are infix globs; the others are
// mostly exact names, with prefix globs, targets and connectors among them.
func benchRules(n int, infix float64) []Rule {
	rules := make([]Rule, 0, n)
	for i := range n {
		effect := EffectAllow
		if i%3 == 0 {
			effect = EffectDeny
		}
		r := Rule{ID: fmt.Sprint("r", i), Effect: effect, Scope: ScopeTool, Enabled: true}
		switch {
		case float64(i%10) < infix*10:
			r.Pattern = fmt.Sprintf("*_service%d_*", i)
		case i%20 == 11:
			r.Pattern = fmt.Sprintf("vendor%d_*", i)
		case i%20 == 13:
			r.Pattern = fmt.Sprintf("write_file(area%d/**)", i)
		case i%20 == 15:
			r.Pattern = fmt.Sprintf("shell(program%d run)", i)
		case i%20 == 17:
			r.Pattern, r.Scope = fmt.Sprintf("connector%d", i), ScopeConnector
		case i%20 == 19:
			r.Pattern = fmt.Sprintf("conn%d:tool_%d", i, i)
		default:
			r.Pattern = fmt.Sprintf("tool_%d", i)
		}
		rules = append(rules, r)
	}
	return rules
}

func benchPolicy(b *testing.B, n int, infix float64, extra ...string) Policy {
	b.Helper()
	rules := benchRules(n-len(extra), infix)
	for _, text := range extra {
		r, err := ParseRule(text)
		if err != nil {
			b.Fatal(err)
		}
		rules = append(rules, r)
	}
	set, err := CompileRules(rules)
	if err != nil {
		b.Fatal(err)
	}
	return Policy{Rules: set}
}

func benchJudge(b *testing.B, p Policy, call Call, acts []Act, want State) {
	b.Helper()
	q := Question{Call: &call, Acts: acts, Now: time.Unix(1, 0)}
	if got := p.Judge(q).State; got != want {
		b.Fatalf("judged %s, want %s", got, want)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Judge(q)
	}
}

var benchSizes = []int{10, 100, 1000, 10000}

func BenchmarkJudgeFree(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			benchJudge(b, benchPolicy(b, n, 0), Call{Tool: "read_file"},
				[]Act{{Name: "read_file", Target: PathTarget("notes/today.md"), Verdict: VerdictFree}}, StateFree)
		})
	}
}

func BenchmarkJudgeRule(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			benchJudge(b, benchPolicy(b, n, 0, "allow write_file(notes/**)"), Call{Tool: "write_file"},
				[]Act{{Name: "write_file", Target: PathTarget("notes/today.md"), Verdict: VerdictAsk}}, StateAutoApproved)
		})
	}
}

func BenchmarkJudgeExactName(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			benchJudge(b, benchPolicy(b, n, 0, "allow send_email"), Call{Tool: "send_email"},
				[]Act{{Name: "send_email", Target: ArgumentsTarget([]byte("{}")), Verdict: VerdictAsk}}, StateAutoApproved)
		})
	}
}

func BenchmarkJudgeCommand(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			benchJudge(b, benchPolicy(b, n, 0, "allow shell(git status)"), Call{Tool: "shell"},
				[]Act{{Name: "shell", Target: CommandTarget("git", "status", "--short"), Verdict: VerdictAsk}}, StateAutoApproved)
		})
	}
}

func BenchmarkJudgeGrant(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			p := benchPolicy(b, n, 0)
			act := Act{Name: "write_file", Target: PathTarget("notes/today.md"), Verdict: VerdictAsk}
			p.Grants = NewGrantSet([]Grant{{ID: "g", Session: "s", Effect: EffectAllow, Act: act, Reach: ReachExact}})
			benchJudge(b, p, Call{Tool: "write_file", Session: "s"}, []Act{act}, StateSessionApproved)
		})
	}
}

func BenchmarkJudgeHalfInfix(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			benchJudge(b, benchPolicy(b, n, 0.5, "allow github:*_search_*"), Call{Connector: "github", Tool: "issues_search_all"},
				[]Act{{Connector: "github", Name: "issues_search_all", Target: ArgumentsTarget([]byte("{}")), Verdict: VerdictAsk}}, StateAutoApproved)
		})
	}
}
