package approval

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
)

func ruleTexts(t *testing.T, m *Memory) []string {
	t.Helper()
	set, err := m.Rules(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for _, r := range set.Rules() {
		texts = append(texts, r.ID+" "+r.String())
	}
	return texts
}

func grantIDs(t *testing.T, m *Memory, session string) []string {
	t.Helper()
	set, err := m.Grants(context.Background(), session)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, g := range set.Grants() {
		ids = append(ids, g.ID)
	}
	return ids
}

func TestARuleThatHasExpiredIsNotInTheWay(t *testing.T) {
	old := policy.Rule{ID: "old", Pattern: "send", Effect: policy.EffectAllow, Scope: policy.ScopeTool, Enabled: true, Expires: testNow}
	again := policy.Rule{ID: "new", Pattern: "send", Effect: policy.EffectAllow, Scope: policy.ScopeTool, Enabled: true, Created: testNow}
	if err := policy.CheckNewRule([]policy.Rule{old}, again, 10); err != nil {
		t.Errorf("after its end: %v", err)
	}
	old.Expires = testNow.Add(1)
	if err := policy.CheckNewRule([]policy.Rule{old}, again, 10); !errors.Is(err, policy.ErrDuplicateRule) {
		t.Errorf("before its end: %v", err)
	}
}

func TestMemoryRefusesRules(t *testing.T) {
	m := NewMemory(2)
	there := mustRule(t, "allow Send(x)")
	there.ID = "r"
	if err := m.AddRules(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	sameID := mustRule(t, "allow other")
	sameID.ID = "r"
	for name, c := range map[string]struct {
		rules []policy.Rule
		want  error
	}{
		"empty":                         {[]policy.Rule{{Effect: policy.EffectAllow, Scope: policy.ScopeTool}}, policy.ErrEmptyPattern},
		"malformed":                     {[]policy.Rule{{Effect: policy.EffectAllow, Scope: policy.ScopeTool, Pattern: "a["}}, policy.ErrMalformedRule},
		"an exception":                  {[]policy.Rule{mustRule(t, "except a")}, policy.ErrMalformedRule},
		"duplicate":                     {[]policy.Rule{there}, policy.ErrDuplicateRule},
		"duplicate in another case":     {[]policy.Rule{mustRule(t, "allow sEND(x)")}, policy.ErrDuplicateRule},
		"a project that is no path":     {[]policy.Rule{{Effect: policy.EffectAllow, Scope: policy.ScopeTool, Pattern: "a", Project: "p"}}, policy.ErrMalformedRule},
		"duplicate id":                  {[]policy.Rule{sameID}, policy.ErrDuplicateRule},
		"duplicates of each other":      {[]policy.Rule{mustRule(t, "allow a"), mustRule(t, "allow A")}, policy.ErrDuplicateRule},
		"one too many":                  {[]policy.Rule{mustRule(t, "allow a"), mustRule(t, "allow b")}, policy.ErrRuleLimit},
		"the last of several malformed": {[]policy.Rule{mustRule(t, "allow a"), {Effect: policy.EffectAllow, Scope: policy.ScopeTool, Pattern: "]"}}, policy.ErrMalformedRule},
	} {
		err := m.AddRules(t.Context(), c.rules...)
		var fault *policy.RuleError
		if !errors.Is(err, c.want) || !errors.As(err, &fault) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		} else if c.want == policy.ErrDuplicateRule && (fault.Existing == nil || name != "duplicates of each other" && fault.Existing.ID != "r") {
			t.Errorf("%s: the error does not name the rule that is there: %v", name, fault.Existing)
		}
		if diff := cmp.Diff([]string{"r allow Send(x)"}, ruleTexts(t, m)); diff != "" {
			t.Fatalf("%s: the rules changed (-want +got):\n%s", name, diff)
		}
	}
	for _, other := range []string{"allow send(X)", "deny connector send"} {
		m := NewMemory(0)
		if err := m.AddRules(t.Context(), there, mustRule(t, other)); err != nil {
			t.Errorf("%s is no duplicate: %v", other, err)
		}
	}
}

func TestMemoryKeepsAHundredRulesUnlessToldOtherwise(t *testing.T) {
	for limit, want := range map[int]int{0: DefaultRuleLimit, 3: 3} {
		m := NewMemory(limit)
		for i := range want {
			if err := m.AddRules(t.Context(), mustRule(t, fmt.Sprint("allow tool_", i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.AddRules(t.Context(), mustRule(t, "allow more")); !errors.Is(err, policy.ErrRuleLimit) {
			t.Errorf("limit %d: rule %d gives %v", limit, want+1, err)
		}
	}
}

func TestMemoryRulesComeAndGo(t *testing.T) {
	m := NewMemory(0)
	taken := mustRule(t, "allow a")
	taken.ID = "rule-1"
	if err := m.AddRules(t.Context(), taken, mustRule(t, "deny b")); err != nil {
		t.Fatal(err)
	}
	before, err := m.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	act := policy.Act{Name: "b", Target: policy.TextTarget("x")}
	denied := func(set *policy.RuleSet) policy.Match {
		m, _ := policy.Policy{Rules: set}.Denies(policy.Call{}, act, testNow)
		return m
	}
	b := before.Rules()[1].ID
	if b == "rule-1" || denied(before) != policy.MatchYes {
		t.Fatalf("rule b has the id %q, or does not deny", b)
	}
	if err := m.EnableRule(b, false); err != nil {
		t.Fatal(err)
	}
	off, _ := m.Rules(t.Context())
	if denied(off) != policy.MatchNo || denied(before) != policy.MatchYes {
		t.Error("turning a rule off does nothing, or changes a set that was handed out")
	}
	if err := m.EnableRule(b, true); err != nil {
		t.Fatal(err)
	}
	if on, _ := m.Rules(t.Context()); denied(on) != policy.MatchYes {
		t.Error("turning a rule on does nothing")
	}
	if err := m.RemoveRule("rule-1"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{b + " deny b"}, ruleTexts(t, m)); diff != "" {
		t.Error(diff)
	}
	for _, err := range []error{m.RemoveRule("rule-1"), m.EnableRule("x", true)} {
		if !errors.Is(err, policy.ErrRuleNotFound) {
			t.Errorf("an unknown id gives %v", err)
		}
	}
}

func TestMemoryGrantsComeAndGo(t *testing.T) {
	m := NewMemory(0)
	changes := 0
	stop := m.Notify(func() { changes++; grantIDs(t, m, "s") }) // no lock is held
	grants := []policy.Grant{{ID: "a", Session: "s"}, {ID: "b", Session: "s"}, {ID: "b", Session: "s"}, {Session: "other"}}
	if err := m.AddGrants(t.Context(), grants...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "b"}, grantIDs(t, m, "s")); diff != "" {
		t.Error(diff)
	}
	if err := m.RevokeGrant("other", "b"); !errors.Is(err, policy.ErrGrantNotFound) || len(grantIDs(t, m, "s")) != 3 {
		t.Errorf("revoking in another session: %v", err)
	}
	if err := m.RevokeGrant("s", "b"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, grantIDs(t, m, "s")); diff != "" {
		t.Errorf("after revoking b, every b of it:\n%s", diff)
	}
	m.ClearGrants("s")
	if len(grantIDs(t, m, "s")) != 0 || len(grantIDs(t, m, "other")) != 1 {
		t.Error("clearing leaves grants of the session, or takes those of another")
	}
	if changes != 3 {
		t.Errorf("told of %d changes, want 3: add, revoke, clear", changes)
	}
	stop()
	m.ClearGrants("other")
	if changes != 3 {
		t.Error("told after stop")
	}
}

func TestMemoryUnderConcurrentWriters(t *testing.T) {
	n := rounds.N(50, 1000)
	m := NewMemory(2 * n)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := range n {
				rule, err := policy.ParseRule(fmt.Sprintf("deny tool_%d_%d", w, i))
				if err == nil {
					err = m.AddRules(t.Context(), rule)
				}
				if err != nil {
					t.Error(err)
				}
				id := fmt.Sprint(w, "-", i)
				if err := m.AddGrants(t.Context(), policy.Grant{ID: id, Session: "s"}); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					if err := m.RevokeGrant("s", id); err != nil {
						t.Error(err)
					}
				}
				m.Notify(func() {})()
			}
		})
	}
	wg.Wait()
	if rules, grants := len(ruleTexts(t, m)), len(grantIDs(t, m, "s")); rules != 2*n || grants != 2*(n/2) {
		t.Errorf("%d rules and %d grants are left, want %d and %d", rules, grants, 2*n, 2*(n/2))
	}
}

var testNow = time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)

func mustRule(t testing.TB, text string) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(text)
	if err != nil {
		t.Fatalf("ParseRule(%q): %v", text, err)
	}
	return r
}
