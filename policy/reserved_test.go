package policy

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func reserve(t testing.TB, entries ...[]string) *Reserved {
	t.Helper()
	var in []Reservation
	for i, acts := range entries {
		in = append(in, Reservation{Acts: acts, Source: "deciders " + string(rune('1'+i))})
	}
	out, err := Reserve(Ground{}, in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatIsReservedIsForAPerson(t *testing.T) {
	reserved := reserve(t, []string{"shell(kubectl delete)", "pay:*"}, []string{"read_file(secret/**)", "connector bank"})
	allow, err := CompileRules([]Rule{{ID: "1", Pattern: "*", Effect: EffectAllow, Scope: ScopeTool, Enabled: true},
		{ID: "2", Pattern: "*:*", Effect: EffectAllow, Scope: ScopeTool, Enabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		call Call
		act  Act
		by   []int
	}{
		"a command":          {Call{Tool: "shell"}, Act{Name: ActShell, Target: CommandTarget("kubectl", "delete", "pod")}, []int{0}},
		"another command":    {Call{Tool: "shell"}, Act{Name: ActShell, Target: CommandTarget("kubectl", "get", "pod")}, nil},
		"an unknown command": {Call{Tool: "shell"}, Act{Name: ActShell, Target: Target{Kind: KindWords, Unknown: true}}, []int{0}},
		"code":               {Call{Tool: "shell"}, Act{Name: ActShell, Target: CommandTarget("x"), Opaque: true}, []int{0, 1}},
		"code judged later":  {Call{Tool: "shell"}, Act{Name: ActShell, Target: CommandTarget("x"), Opaque: true, Later: true}, nil},
		"a tool":             {Call{Connector: "pay", Tool: "send"}, Act{Connector: "pay", Name: "send", Target: TextTarget("x")}, []int{0}},
		"in capitals":        {Call{Connector: "PAY", Tool: "Send"}, Act{Connector: "PAY", Name: "Send", Target: TextTarget("x")}, []int{0}},
		"a free read":        {Call{Tool: "read_file"}, Act{Name: "read_file", Target: PathTarget("secret/key"), Verdict: VerdictFree}, []int{1}},
		"another free read":  {Call{Tool: "read_file"}, Act{Name: "read_file", Target: PathTarget("notes"), Verdict: VerdictFree}, nil},
		"a connector":        {Call{Connector: "bank", Tool: "send"}, Act{Connector: "bank", Name: "send", Target: TextTarget("x")}, []int{1}},
	} {
		if c.act.Verdict == 0 {
			c.act.Verdict = VerdictAsk
		}
		c.act.Known = true
		now := time.Unix(1, 0)
		acts := []Act{c.act}
		if got := reserved.By(&c.call, acts, now); !slices.Equal(got, c.by) {
			t.Errorf("%s: reserved by %v, want %v", name, got, c.by)
		}
		for _, mode := range []Mode{ModeAsk, ModeApproveAll} {
			p := Policy{Fixed: allow, Mode: mode, Reserved: reserved,
				Grants: NewGrantSet([]Grant{{ID: "g", Effect: EffectAllow, Act: c.act, Reach: ReachTool}})}
			j := p.Judge(Question{Call: &c.call, Acts: acts, Now: now, Traced: true})
			if (len(c.by) > 0) != (j.State == StatePending && j.PersonOnly && strings.Contains(j.Why, "the team's policy names who decides about this (deciders ")) {
				t.Errorf("%s: %s, %q", name, j.State, j.Why)
			}
		}
		strict := Policy{Mode: ModeStrict, Reserved: reserved}
		if j := strict.Judge(Question{Call: &c.call, Acts: acts, Now: now}); len(c.by) > 0 && j.State.Runs() {
			t.Errorf("%s: strict lets it run", name)
		}
	}
}

func TestReservationsThatAreRefused(t *testing.T) {
	for _, acts := range [][]string{nil, {""}, {"shell("}, {"read_file(~/x)"}} {
		if _, err := Reserve(Ground{}, []Reservation{{Acts: acts, Source: "deciders 1"}}); err == nil || !strings.Contains(err.Error(), "deciders 1") {
			t.Errorf("%q: %v", acts, err)
		}
	}
	if got := (*Reserved)(nil).By(&Call{}, []Act{{}}, time.Time{}); got != nil {
		t.Errorf("nothing reserves %v", got)
	}
}

// Among many reservations a judgement costs about what it costs among few.
func BenchmarkJudgeReserved(b *testing.B) {
	entries := make([]Reservation, 100)
	for i := range entries {
		entries[i] = Reservation{Acts: []string{"shell(program" + strings.Repeat("x", i) + " run)"}, Source: "deciders"}
	}
	reserved, err := Reserve(Ground{}, entries)
	if err != nil {
		b.Fatal(err)
	}
	p := benchPolicy(b, 1000, 0, "allow shell(git status)")
	p.Reserved = reserved
	benchJudge(b, p, Call{Tool: "shell"}, []Act{{Name: "shell", Target: CommandTarget("git", "status", "--short"), Verdict: VerdictAsk}}, StateAutoApproved)
}
