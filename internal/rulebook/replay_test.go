package rulebook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

var now = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

func act(words ...string) policy.Act {
	return policy.Act{Name: policy.ActShell, Target: policy.CommandTarget(words...), Verdict: policy.VerdictAsk, Known: true}
}

func record(state policy.State, asked bool, acts ...policy.Act) *approval.Record {
	r := &approval.Record{Seq: 1, Event: approval.Event{Kind: approval.EventEnded, Tool: policy.ActShell, State: state, ActData: acts}}
	if asked {
		r.Requested = now
	}
	return r
}

// Each way in which a call was answered, under rules that say nothing, yes or no about it.
func TestOutcomes(t *testing.T) {
	free := act("date")
	free.Verdict = policy.VerdictFree
	blocked := act("date")
	blocked.Verdict = policy.VerdictBlock
	person := act("date")
	person.PersonOnly = true
	fixed := record(policy.StateAutoDenied, false, act("date"))
	fixed.Rule, fixed.Basis = "policy.yaml:3", "rule deny shell(date) at policy.yaml:3"
	kept := record(policy.StateAutoApproved, false, act("date"))
	kept.Rule, kept.Basis = "r1", "rule allow shell(date)"
	for name, c := range map[string]struct {
		record *approval.Record
		want   [3]string // with no rule, an allow, a deny
		found  bool      // the allow lets through what was refused
	}{
		"approved":         {record(policy.StateApproved, true, act("date")), [3]string{"ask", "allow", "deny"}, false},
		"denied":           {record(policy.StateDenied, true, act("date")), [3]string{"ask", "allow", "deny"}, true},
		"dismissed":        {record(policy.StateDismissed, true, act("date")), [3]string{"ask", "allow", "deny"}, true},
		"expired":          {record(policy.StateExpired, true, act("date")), [3]string{"ask", "allow", "deny"}, true},
		"free":             {record(policy.StateFree, false, free), [3]string{"allow", "allow", "deny"}, false},
		"blocked":          {record(policy.StateBlocked, false, blocked), [3]string{"deny", "deny", "deny"}, false},
		"person only":      {record(policy.StateApproved, true, person), [3]string{"ask", "ask", "deny"}, false},
		"session approved": {record(policy.StateSessionApproved, false, act("date")), [3]string{"allow", "allow", "deny"}, false},
		"mode approved":    {record(policy.StateModeApproved, false, act("date")), [3]string{"allow", "allow", "deny"}, false},
		"mode denied":      {record(policy.StateModeDenied, false, act("date")), [3]string{"deny", "allow", "deny"}, false},
		"rule is gone":     {kept, [3]string{"ask", "allow", "deny"}, false},
		"denied by a file": {fixed, [3]string{"deny", "deny", "deny"}, false},
		"denied by a rule": {record(policy.StateAutoDenied, false, act("date")), [3]string{"ask", "allow", "deny"}, true},
	} {
		k, ok := rulebook.CaseFromRecord(c.record)
		if !ok {
			t.Fatalf("%s: no case", name)
		}
		for i, rules := range []*policy.RuleSet{nil, approvaltest.Rules(t, "allow shell(date)"), approvaltest.Rules(t, "deny shell(date)")} {
			comparison := rulebook.Compare(nil, policy.Policy{Rules: rules}, now)
			comparison.Add(k)
			if got := after(comparison.Report(), &k); got != c.want[i] {
				t.Errorf("%s, rules %d: %s, want %s", name, i, got, c.want[i])
			}
			if found := comparison.Report().Findings > 0; found != (c.found && i == 1) {
				t.Errorf("%s, rules %d: finding %v", name, i, found)
			}
		}
	}
}

// after is what happens after the change: the difference says so, or it is what was.
func after(r rulebook.Report, k *rulebook.Case) string {
	if len(r.Differences) > 0 {
		return r.Differences[0].After
	}
	switch {
	case r.PromptsAfter == 1:
		return explain.Ask
	case k.State.Runs():
		return explain.Allow
	}
	return explain.Deny
}

// With rules before the change, only the change counts.
func TestAgainstCurrentRules(t *testing.T) {
	k, _ := rulebook.CaseFromRecord(record(policy.StateDenied, true, act("date")))
	before := policy.Policy{Rules: approvaltest.Rules(t, "allow shell(date)")}
	comparison := rulebook.Compare(&before, policy.Policy{Rules: approvaltest.Rules(t, "allow shell(date)", "allow shell(ls)")}, now)
	comparison.Add(k)
	if r := comparison.Report(); len(r.Differences) != 0 || r.PromptsBefore != 0 {
		t.Errorf("%+v", r)
	}
}

// A compound call is allowed only if every act is.
func TestCompound(t *testing.T) {
	k, _ := rulebook.CaseFromRecord(record(policy.StateApproved, true, act("git", "log"), act("git", "push")))
	comparison := rulebook.Compare(nil, policy.Policy{Rules: approvaltest.Rules(t, "allow shell(git log)")}, now)
	comparison.Add(k)
	if r := comparison.Report(); r.PromptsAfter != 1 {
		t.Errorf("%+v", r)
	}
}

func TestNoActs(t *testing.T) {
	if _, ok := rulebook.CaseFromRecord(record(policy.StateApproved, true)); ok {
		t.Error("a record without acts is a case")
	}
	started := record(policy.StateApproved, true, act("date"))
	started.Kind = approval.EventStarted
	if _, ok := rulebook.CaseFromRecord(started); ok {
		t.Error("a start is a case")
	}
}

func TestReadCalls(t *testing.T) {
	calls, err := rulebook.ReadCalls("f", strings.NewReader("{\"tool\": \"a\"}\n\n{\"tool\": \"b\", \"args\": {\"x\": 1}}"))
	if err != nil || len(calls) != 2 || calls[1].Tool != "b" {
		t.Errorf("%v, %v", calls, err)
	}
	for _, bad := range []string{"{}{}", "[]", `{"tool": "a", "arg": {}}`, "{\"tool\": \"a\"}\nx"} {
		if _, err := rulebook.ReadCalls("f", strings.NewReader(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
