package approvaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// TestRuleStore is the suite that every [approval.RuleStore] must pass. Open
// returns an empty store that takes at least 50 rules.
func TestRuleStore(t *testing.T, open func(t *testing.T) approval.RuleStore) {
	t.Run("is empty at first", func(t *testing.T) { wantRules(t, open(t)) })
	t.Run("keeps rules in order", func(t *testing.T) {
		s := open(t)
		addRules(t, s, "allow b", "deny a(x)")
		addRules(t, s, "allow connector c")
		wantRules(t, s, "allow b", "deny a(x)", "allow connector c")
	})
	t.Run("keeps every field", func(t *testing.T) { ruleFields(t, open(t)) })
	t.Run("adds all or none", func(t *testing.T) { rulesAllOrNone(t, open(t)) })
	t.Run("a deny beside an allow, and projects, are no duplicates", func(t *testing.T) {
		s := open(t)
		addRules(t, s, "allow a(x)", "deny a(x)")
		for _, project := range []string{"/home/ann/shop", "/home/ann/blog"} {
			here := rule("allow a(x)")
			here.Project = project
			if err := s.AddRules(t.Context(), here); err != nil {
				t.Errorf("in %s: %v", project, err)
			}
			here.Pattern = "A(x)"
			if err := s.AddRules(t.Context(), here); !errors.Is(err, policy.ErrDuplicateRule) {
				t.Errorf("twice in %s: %v", project, err)
			}
		}
		wantRules(t, s, "allow a(x)", "deny a(x)", "allow a(x)", "allow a(x)")
	})
	t.Run("gives ids to rules without", func(t *testing.T) {
		s := open(t)
		addRules(t, s, "allow a", "allow b")
		rules := rulesOf(t, s)
		if rules[0].ID == "" || rules[1].ID == "" || rules[0].ID == rules[1].ID {
			t.Errorf("ids %q and %q, want two different ones", rules[0].ID, rules[1].ID)
		}
	})
	t.Run("a set that was read does not change", func(t *testing.T) { ruleSnapshot(t, open(t)) })
	t.Run("takes rules from many at once", func(t *testing.T) { rulesAtOnce(t, open(t)) })
	t.Run("tells of a change", func(t *testing.T) {
		s := open(t)
		told := notified(s)
		addRules(t, s, "allow a")
		told(t, true)
		for range refusals {
			if err := s.AddRules(t.Context(), rule("allow A")); err == nil {
				t.Error("a duplicate was taken")
			}
		}
		told(t, false)
	})
}

// rule reads a rule; a malformed one is made as it stands.
func rule(text string) policy.Rule {
	r, err := policy.ParseRule(text)
	if err != nil {
		return policy.Rule{Pattern: text, Effect: policy.EffectAllow, Scope: policy.ScopeTool, Enabled: true}
	}
	return r
}

func addRules(t *testing.T, s approval.RuleStore, texts ...string) {
	t.Helper()
	var rules []policy.Rule
	for _, text := range texts {
		rules = append(rules, rule(text))
	}
	if err := s.AddRules(t.Context(), rules...); err != nil {
		t.Fatalf("adding %q: %v", texts, err)
	}
}

func rulesOf(t *testing.T, s approval.RuleStore) []policy.Rule {
	t.Helper()
	set, err := s.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return set.Rules()
}

func wantRules(t *testing.T, s approval.RuleStore, want ...string) {
	t.Helper()
	var got []string
	for _, r := range rulesOf(t, s) {
		got = append(got, r.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("rules %q, want %q", got, want)
	}
}

func ruleFields(t *testing.T, s approval.RuleStore) {
	want := rule("deny shell(git push)")
	want.ID, want.Created, want.Expires = "mine", Epoch, Epoch.AddDate(1, 0, 0)
	want.Enabled, want.Because, want.Source = false, "main is protected", "policy.yaml:7"
	want.Project = "/home/me/shop"
	if err := s.AddRules(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got := rulesOf(t, s)[0]
	if !got.Created.Equal(want.Created) || !got.Expires.Equal(want.Expires) {
		t.Errorf("created %v, expires %v; want %v, %v", got.Created, got.Expires, want.Created, want.Expires)
	}
	got.Created, got.Expires = want.Created, want.Expires
	if got != want {
		t.Errorf("kept %+v, want %+v", got, want)
	}
}

func rulesAllOrNone(t *testing.T, s approval.RuleStore) {
	addRules(t, s, "allow kept(x)")
	for _, bad := range []struct {
		text string
		want error
	}{
		{"", policy.ErrEmptyPattern},
		{"  ", policy.ErrEmptyPattern},
		{"a[", policy.ErrMalformedRule},
		{"except a", policy.ErrMalformedRule},
		{"allow KEPT(x)", policy.ErrDuplicateRule},
		{"allow Fresh", policy.ErrDuplicateRule},
	} {
		err := s.AddRules(t.Context(), rule("allow fresh"), rule(bad.text))
		var typed *policy.RuleError
		if !errors.Is(err, bad.want) || !errors.As(err, &typed) {
			t.Errorf("adding %q: %v, want a RuleError with %v", bad.text, err, bad.want)
			continue
		}
		if bad.want == policy.ErrDuplicateRule && typed.Existing == nil {
			t.Errorf("adding %q: the error does not name the rule that is there", bad.text)
		}
		wantRules(t, s, "allow kept(x)")
	}
}

func ruleSnapshot(t *testing.T, s approval.RuleStore) {
	addRules(t, s, "allow a")
	before, err := s.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before.Rules()[0].Pattern = "spoilt"
	addRules(t, s, "allow b")
	if got := before.Rules(); len(got) != 1 || got[0].Pattern != "a" {
		t.Errorf("the set that was read before is now %v", got)
	}
	wantRules(t, s, "allow a", "allow b")
}

func rulesAtOnce(t *testing.T, s approval.RuleStore) {
	const n = 20
	var all sync.WaitGroup
	errs := make([]error, 2*n)
	for i := range 2 * n { // each rule twice: one of the two is a duplicate
		all.Go(func() {
			errs[i] = s.AddRules(context.Background(), rule(fmt.Sprintf("allow tool%d", i/2)))
			if _, err := s.Rules(context.Background()); err != nil {
				t.Errorf("reading: %v", err)
			}
		})
	}
	all.Wait()
	for i := 0; i < 2*n; i += 2 {
		if (errs[i] == nil) == (errs[i+1] == nil) {
			t.Errorf("rule %d was added twice at once: %v and %v, want one ErrDuplicateRule", i/2, errs[i], errs[i+1])
		}
	}
	if got := len(rulesOf(t, s)); got != n {
		t.Errorf("%d rules, want %d", got, n)
	}
}

// refusals are more than the times that a store tells of one change: one that looks by itself may tell of it again, because it saw
// it before it was committed.
const refusals = 5

// notified returns a function that checks whether a store that tells of changes
// has told since the last time.
func notified(store any) func(t *testing.T, want bool) {
	n, ok := store.(approval.Notifier)
	if !ok {
		return func(*testing.T, bool) {}
	}
	told := make(chan struct{}, 100)
	n.Notify(func() { told <- struct{}{} })
	return func(t *testing.T, want bool) {
		t.Helper()
		if !want {
			if n := len(told); n >= refusals {
				t.Errorf("told %d times of changes where there were none", n)
			}
			return
		}
		select {
		case <-told:
		case <-t.Context().Done():
			t.Error("not told of the change")
		}
	}
}
