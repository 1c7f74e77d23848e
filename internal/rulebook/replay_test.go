package rulebook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/rulebook"
)

var now = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

func act(words ...string) approval.Act {
	return approval.Act{Name: approval.Shell, Target: approval.CommandTarget(words...), Verdict: approval.Ask, Known: true}
}

func record(state approval.State, asked bool, acts ...approval.Act) *approval.Record {
	r := &approval.Record{Seq: 1, Event: approval.Event{Kind: approval.Ended, Tool: approval.Shell, State: state, ActData: acts}}
	if asked {
		r.Requested = now
	}
	return r
}

// Each way in which a call was answered, under rules that say nothing, yes or no about it.
func TestOutcomes(t *testing.T) {
	free := act("date")
	free.Verdict = approval.Free
	blocked := act("date")
	blocked.Verdict = approval.Block
	person := act("date")
	person.PersonOnly = true
	fixed := record(approval.AutoDenied, false, act("date"))
	fixed.Rule, fixed.Basis = "policy.yaml:3", "rule deny shell(date) at policy.yaml:3"
	kept := record(approval.AutoApproved, false, act("date"))
	kept.Rule, kept.Basis = "r1", "rule allow shell(date)"
	for name, c := range map[string]struct {
		record *approval.Record
		want   [3]string // with no rule, an allow, a deny
		found  bool      // the allow lets through what was refused
	}{
		"approved":         {record(approval.Approved, true, act("date")), [3]string{"ask", "allow", "deny"}, false},
		"denied":           {record(approval.Denied, true, act("date")), [3]string{"ask", "allow", "deny"}, true},
		"dismissed":        {record(approval.Dismissed, true, act("date")), [3]string{"ask", "allow", "deny"}, true},
		"expired":          {record(approval.Expired, true, act("date")), [3]string{"ask", "allow", "deny"}, true},
		"free":             {record(approval.FreeToRun, false, free), [3]string{"allow", "allow", "deny"}, false},
		"blocked":          {record(approval.Blocked, false, blocked), [3]string{"deny", "deny", "deny"}, false},
		"person only":      {record(approval.Approved, true, person), [3]string{"ask", "ask", "deny"}, false},
		"session approved": {record(approval.SessionApproved, false, act("date")), [3]string{"allow", "allow", "deny"}, false},
		"mode approved":    {record(approval.ModeApproved, false, act("date")), [3]string{"allow", "allow", "deny"}, false},
		"mode denied":      {record(approval.ModeDenied, false, act("date")), [3]string{"deny", "allow", "deny"}, false},
		"rule is gone":     {kept, [3]string{"ask", "allow", "deny"}, false},
		"denied by a file": {fixed, [3]string{"deny", "deny", "deny"}, false},
		"denied by a rule": {record(approval.AutoDenied, false, act("date")), [3]string{"ask", "allow", "deny"}, true},
	} {
		k, ok := rulebook.CaseFromRecord(c.record)
		if !ok {
			t.Fatalf("%s: no case", name)
		}
		for i, rules := range []*approval.RuleSet{nil, approvaltest.Rules(t, "allow shell(date)"), approvaltest.Rules(t, "deny shell(date)")} {
			comparison := rulebook.Compare(nil, approval.Policy{Rules: rules}, now)
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
	k, _ := rulebook.CaseFromRecord(record(approval.Denied, true, act("date")))
	before := approval.Policy{Rules: approvaltest.Rules(t, "allow shell(date)")}
	comparison := rulebook.Compare(&before, approval.Policy{Rules: approvaltest.Rules(t, "allow shell(date)", "allow shell(ls)")}, now)
	comparison.Add(k)
	if r := comparison.Report(); len(r.Differences) != 0 || r.PromptsBefore != 0 {
		t.Errorf("%+v", r)
	}
}

// A compound call is allowed only if every act is.
func TestCompound(t *testing.T) {
	k, _ := rulebook.CaseFromRecord(record(approval.Approved, true, act("git", "log"), act("git", "push")))
	comparison := rulebook.Compare(nil, approval.Policy{Rules: approvaltest.Rules(t, "allow shell(git log)")}, now)
	comparison.Add(k)
	if r := comparison.Report(); r.PromptsAfter != 1 {
		t.Errorf("%+v", r)
	}
}

func TestNoActs(t *testing.T) {
	if _, ok := rulebook.CaseFromRecord(record(approval.Approved, true)); ok {
		t.Error("a record without acts is a case")
	}
	started := record(approval.Approved, true, act("date"))
	started.Kind = approval.Started
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
