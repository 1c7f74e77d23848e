package policy

import (
	"fmt"
	"testing"
	"time"
)

// A mix is a large set of rules of one form, of which only those in own are about
// the call.
type mix struct {
	name    string
	filler  string // the pattern of rule number %[1]d
	effects []Effect
	own     []string
	grants  bool // there is a grant for each rule
	act     Act
	want    State
}

var (
	allowsAndDenies = []Effect{EffectDeny, EffectAllow, EffectAllow}
	issue           = Act{Connector: "github", Name: "read_issue", Target: ArgumentsTarget([]byte("{}")), Verdict: VerdictAsk}
	note            = Act{Name: ActWriteFile, Target: PathTarget("notes/part_x/today.md", "/home/user/notes/part_x/today.md"), Verdict: VerdictAsk}
	status          = Act{Name: ActShell, Target: CommandTarget("git", "status", "--short"), Verdict: VerdictAsk}
)

var mixes = []mix{
	{name: "connectors", filler: "vendor%[1]d:read_*", effects: allowsAndDenies, own: []string{"allow github:read_*"}, act: issue, want: StateAutoApproved},
	{name: "one connector", filler: "github:read_%[1]d_*", effects: allowsAndDenies, own: []string{"allow github:read_*"}, act: issue, want: StateAutoApproved},
	{name: "connector globs", filler: "vendor%[1]d-*:read_%[1]d_*", effects: allowsAndDenies, own: []string{"allow git*:read_*"}, act: issue, want: StateAutoApproved},
	{name: "exact names", filler: "tool_%[1]d", effects: allowsAndDenies, own: []string{"allow github:read_issue"}, act: issue, want: StateAutoApproved},
	{name: "prefixes", filler: "vendor%[1]d_*", effects: allowsAndDenies, own: []string{"allow read_*"}, act: issue, want: StateAutoApproved},
	{name: "infixes", filler: "*_service%[1]d_*", effects: allowsAndDenies, own: []string{"allow *d_iss*"}, act: issue, want: StateAutoApproved},
	{name: "exact paths", filler: "write_file(area/file%[1]d.md)", effects: allowsAndDenies, own: []string{"allow write_file(notes/part_x/today.md)"}, act: note, want: StateAutoApproved},
	{name: "folders", filler: "write_file(area%[1]d/**)", effects: allowsAndDenies, own: []string{"allow write_file(notes/**)"}, act: note, want: StateAutoApproved},
	{name: "path infixes", filler: "write_file(**/part_%[1]d/*.md)", effects: allowsAndDenies, own: []string{"allow write_file(**/part_x/*.md)"}, act: note, want: StateAutoApproved},
	{name: "texts", filler: "github:read_issue(*topic_%[1]d*)", effects: allowsAndDenies, own: []string{"allow github:read_issue(*topic_x*)"},
		act: Act{Connector: "github", Name: "read_issue", Target: TextTarget("the topic_x of today"), Verdict: VerdictAsk}, want: StateAutoApproved},
	{name: "commands", filler: "shell(program%[1]d run)", effects: allowsAndDenies, own: []string{"allow shell(git status)"}, act: status, want: StateAutoApproved},
	{name: "unknown word", filler: "shell(program%[1]d run)", effects: allowsAndDenies, own: []string{"allow shell(git log)"},
		act: Act{Name: ActShell, Target: Target{Kind: KindWords, Words: []Word{{Text: "git"}, {Text: "log"}, {Text: "$n", Unknown: true, Plain: true}}}, Verdict: VerdictAsk}, want: StateAutoApproved},
	{name: "hosts", filler: "connect(*.host%[1]d.example:443)", effects: allowsAndDenies, own: []string{"allow connect(*.docs.example:443)"},
		act: Act{Name: ActConnect, Target: HostTarget("go.docs.example", "443"), Verdict: VerdictAsk}, want: StateAutoApproved},
	{name: "excepted paths", filler: "write_file(**/part_%[1]d/*.md)", effects: []Effect{EffectExcept},
		own: []string{"deny write_file(notes/**)", "except write_file(**/part_x/*.md)", "allow write_file"}, act: note, want: StateAutoApproved},
	{name: "excepted connectors", filler: "vendor%[1]d:read_*", effects: []Effect{EffectExcept},
		own: []string{"deny *", "except github:read_*", "allow github:*"}, act: issue, want: StateAutoApproved},
	{name: "opaque", filler: "vendor%[1]d:read_*", effects: []Effect{EffectDeny}, own: []string{"allow shell"},
		act: Act{Name: ActShell, Target: CommandTarget("make"), Opaque: true, Verdict: VerdictAsk}, want: StateAutoApproved},
	{name: "grants", filler: "vendor%[1]d:read_*", effects: allowsAndDenies, grants: true, act: issue, want: StateSessionApproved},
}

// of returns the policy with n rules of the mix, and the question.
func (m mix) of(t testing.TB, n int) (Policy, Question) {
	t.Helper()
	var rules []Rule
	var grants []Grant
	for i := range n - len(m.own) {
		rules = append(rules, Rule{ID: fmt.Sprint("r", i), Effect: m.effects[i%len(m.effects)], Scope: ScopeTool, Pattern: fmt.Sprintf(m.filler, i), Enabled: true})
		if m.grants {
			act := Act{Connector: fmt.Sprint("vendor", i), Name: "read_issue", Target: m.act.Target}
			grants = append(grants, Grant{Session: "s", Effect: EffectAllow, Act: act, Reach: ReachExact})
		}
	}
	for _, text := range m.own {
		rules = append(rules, mustRule(t, text))
	}
	set, err := CompileRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Rules: set}
	if m.grants {
		p.Grants = NewGrantSet(append(grants, Grant{Session: "s", Effect: EffectAllow, Act: m.act, Reach: ReachExact}))
	}
	return p, Question{
		Call: &Call{Connector: m.act.Connector, Tool: m.act.Name, Session: "s"},
		Acts: []Act{m.act}, Now: time.Unix(1, 0),
	}
}

func TestJudgingALargeSetAllocatesNothing(t *testing.T) {
	for _, m := range mixes {
		p, q := m.of(t, 1000)
		if got := p.Judge(q).State; got != m.want {
			t.Fatalf("%s: judged %s, want %s", m.name, got, m.want)
		}
		if n := testing.AllocsPerRun(100, func() { p.Judge(q) }); n != 0 {
			t.Errorf("%s: %v allocations", m.name, n)
		}
	}
}

// TestFewRulesOfALargeSetAreTried spoils one rule after another: only a judgement
// that looks at the rule fails.
func TestFewRulesOfALargeSetAreTried(t *testing.T) {
	const n, few = 1000, 10
	for _, m := range mixes {
		p, q := m.of(t, n)
		fails := func() (failed bool) {
			defer func() { failed = recover() != nil }()
			p.Judge(q)
			return false
		}
		tried := 0
		for i := range n {
			c := &p.Rules.denies.rules[i]
			rule := c.rule
			if c.rule = nil; fails() {
				tried++
			}
			c.rule = rule
		}
		if tried < len(m.own) || tried > few {
			t.Errorf("%s: %d of %d rules are tried, want %d to %d", m.name, tried, n, len(m.own), few)
		}
	}
}

func BenchmarkJudgeMix(b *testing.B) {
	for _, m := range mixes {
		for _, n := range []int{10, 10000} {
			b.Run(fmt.Sprintf("%s/rules=%d", m.name, n), func(b *testing.B) {
				p, q := m.of(b, n)
				if got := p.Judge(q).State; got != m.want {
					b.Fatalf("judged %s, want %s", got, m.want)
				}
				b.ReportAllocs()
				for b.Loop() {
					p.Judge(q)
				}
			})
		}
	}
}

func BenchmarkCompileRules(b *testing.B) { benchCompile(b, false) }

// BenchmarkFirstDecision measures what a hook pays at each start: the rules are
// compiled, and one call is judged.
func BenchmarkFirstDecision(b *testing.B) { benchCompile(b, true) }

func benchCompile(b *testing.B, decide bool) {
	for _, m := range mixes {
		for _, n := range []int{10, 10000} {
			b.Run(fmt.Sprintf("%s/rules=%d", m.name, n), func(b *testing.B) {
				p, q := m.of(b, n)
				rules := p.Rules.Rules()
				b.ReportAllocs()
				for b.Loop() {
					set, err := CompileRules(rules)
					if err != nil {
						b.Fatal(err)
					}
					if p.Rules = set; decide {
						p.Judge(q)
					}
				}
			})
		}
	}
}
