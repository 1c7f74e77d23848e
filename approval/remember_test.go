package approval_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// asks counts how often a person is asked about the calls, one after another.
func asks(t *testing.T, answer approvaltest.Answer, calls ...policy.Call) int {
	t.Helper()
	script := approvaltest.Script(slices.Repeat([]approvaltest.Answer{answer}, len(calls))...)
	f := newFixture(t, withApprover(script))
	for _, c := range calls {
		f.Decide(t.Context(), c)
	}
	return len(script.Asked())
}

func TestHowOftenAPersonIsAsked(t *testing.T) {
	same := []policy.Call{call("send", "1"), call("send", "1"), call("send", "1")}
	two := []policy.Call{call("send", "1"), call("send", "2"), call("send", "1")}
	reordered := []policy.Call{
		{Tool: "send", Arguments: []byte(`{"a":[1,{"b":true}],"c":null}`)},
		{Tool: "send", Arguments: []byte(`{"c":null, "a":[1,{"b":true}]}`)},
	}
	var types []policy.Call
	for _, v := range []string{`1`, `"1"`, `true`, `1.0`} {
		types = append(types, policy.Call{Tool: "send", Arguments: []byte(`{"a":` + v + `}`)})
	}
	no := func(r *approval.Request) approval.Decision { return r.Deny("") }
	for name, c := range map[string]struct {
		answer approvaltest.Answer
		calls  []policy.Call
		want   int
	}{
		"one prompt for three identical calls after a session grant": {approvaltest.YesForSession, same, 1},
		"two prompts for two targets":                                {approvaltest.YesForSession, two, 2},
		"once is no grant":                                           {approvaltest.Yes, same, 3},
		"denials are not remembered":                                 {no, same, 3},
		"denials are remembered when asked":                          {func(r *approval.Request) approval.Decision { return r.Deny("").ForSession(policy.ReachExact) }, same, 1},
		"the order of keys does not matter":                          {approvaltest.YesForSession, reordered, 1},
		"numbers, strings and booleans differ":                       {approvaltest.YesForSession, types, 4},
		"the reach of the tool":                                      {func(r *approval.Request) approval.Decision { return r.Approve("").ForSession(policy.ReachTool) }, two, 1},
		"always":                                                     {func(r *approval.Request) approval.Decision { return r.Approve("").Always() }, same, 1},
		"always, the whole tool":                                     {func(r *approval.Request) approval.Decision { return r.Approve("").Always("allow send") }, two, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := asks(t, c.answer, c.calls...); got != c.want {
				t.Errorf("asked %d times, want %d", got, c.want)
			}
		})
	}
}

func TestOneTargetSpelledInTwoWays(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("write", "1"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	f.tools.Set("write", approval.Proposal{Acts: []policy.Act{fileAct("notes//./a.md")}})
	wantState(t, f.Review(t.Context(), call("write", "2")), policy.StateSessionApproved)
}

func TestGrantsEndWithTheirSession(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	other := call("send", "1")
	other.Session = "next"
	wantState(t, f.Review(t.Context(), call("send", "1"), func() policy.Call { other.ID = "2"; return other }()), policy.StateSessionApproved, policy.StatePending)
	f.memory.ClearGrants("s")
	wantState(t, f.Review(t.Context(), call("send", "1")), policy.StatePending)
}

func TestChildWorkerInheritsOnlyWhatIsShared(t *testing.T) {
	for _, shared := range []bool{false, true} {
		f := newFixture(t)
		parent, child := call("send", "1"), call("send", "1")
		parent.Workers, child.Workers = []string{"main"}, []string{"main", "helper"}
		b, r := f.pending(parent)
		d := r.Approve("").ForSession(policy.ReachExact)
		d.Remember.Shared = shared
		f.resolve(b, d)
		wantState(t, f.Review(t.Context(), parent), policy.StateSessionApproved)
		want := policy.StatePending
		if shared {
			want = policy.StateSessionApproved
		}
		wantState(t, f.Review(t.Context(), child), want)
	}
}

func TestLifetimes(t *testing.T) {
	for name, keep := range map[string]func(approval.Decision) approval.Decision{
		"grant": func(d approval.Decision) approval.Decision { return d.ForSession(policy.ReachExact) },
		"rule":  func(d approval.Decision) approval.Decision { return d.Always() },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b, r := f.pending(call("send", "1"))
			d := keep(r.Approve(""))
			d.Remember.For = 15 * time.Minute
			f.resolve(b, d)
			f.clock.Advance(15*time.Minute - 1)
			if o := f.Review(t.Context(), call("send", "1")).Outcome(0); !o.Runs() {
				t.Errorf("%s before the lifetime is over", o.State)
			}
			f.clock.Advance(1)
			wantState(t, f.Review(t.Context(), call("send", "1")), policy.StatePending)
		})
	}
}

func TestAlwaysWithoutARuleStoreIsAnError(t *testing.T) {
	f := newFixture(t, func(c *approval.Config) { c.Rules = nil })
	b, r := f.pending(call("send", "1"))
	for _, d := range []approval.Decision{r.Approve("").Always(), r.Deny("").Always()} {
		wantError(t, b.Resolve(t.Context(), d), approval.ErrNoRuleStore)
	}
	wantState(t, b, policy.StatePending)
	f.resolve(b, r.Deny(""))
	f.wantNothingLeft(b)
}

func TestRulesMustCoverTheCall(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	for text, want := range map[string]error{
		"allow mail": approval.ErrInvalidDecision, "deny send": approval.ErrInvalidDecision, "allow ": policy.ErrEmptyPattern, "allow a[": policy.ErrMalformedRule,
	} {
		wantError(t, b.Resolve(t.Context(), r.Approve("").Always(text)), want)
	}
	wantError(t, b.Resolve(t.Context(), r.Approve("").Always("allow send", "allow a[")), policy.ErrMalformedRule)
	wantError(t, b.Resolve(t.Context(), r.Deny("").Always("deny mail")), approval.ErrInvalidDecision)
	wantState(t, b, policy.StatePending)
	if set, _ := f.memory.Rules(t.Context()); len(set.Rules()) > 0 {
		t.Errorf("saved %v", set.Rules())
	}
}

func TestAlwaysForTheRestOfWhatAGrantCovers(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("write", "1"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	f.tools.Set("write", approval.Proposal{Acts: []policy.Act{fileAct("notes/a.md"), fileAct("notes/b.md")}})
	b, r = f.pending(call("write", "2"))
	if !slices.Equal(r.Open, []int{1}) {
		t.Fatalf("open %v, want only the second act", r.Open)
	}
	f.resolve(b, r.Approve("").Always())
	wantState(t, b, policy.StateApproved)
	wantState(t, f.Review(t.Context(), call("write", "3")), policy.StateSessionApproved)
}

func TestWhatIsNotKnownCannotBeRemembered(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("write", approval.Proposal{Acts: []policy.Act{{Name: policy.ActWriteFile, Target: policy.UnknownTarget(policy.KindPath), Verdict: policy.VerdictAsk}}})
	b, r := f.pending(call("write", "1"))
	wantError(t, b.Resolve(t.Context(), r.Approve("").ForSession(policy.ReachExact)), approval.ErrNotOffered)
	wantError(t, b.Resolve(t.Context(), r.Approve("").Always()), approval.ErrNotOffered)
	wantState(t, b, policy.StatePending)
	f.wantNothingLeft()
}

func TestRequestsThatCannotBeRemembered(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", approval.Proposal{NoSession: true, NoAlways: true, Once: true})
	f.tools.Set("mail", approval.Proposal{NoAlways: true})
	b, r := f.pending(call("send", "1"))
	wantError(t, b.Resolve(t.Context(), r.Approve("").ForSession(policy.ReachExact)), approval.ErrNotOffered)
	wantError(t, b.Resolve(t.Context(), r.Approve("").Always()), approval.ErrNotOffered)
	f.resolve(b, r.Approve(""))
	f.wantNothingLeft(b)
	b, r = f.pending(call("mail", "1"))
	wantError(t, b.Resolve(t.Context(), r.Approve("").Always()), approval.ErrNotOffered)
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	wantState(t, f.Review(t.Context(), call("mail", "1")), policy.StateSessionApproved)
}

func TestOncePerSession(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", approval.Proposal{Once: true})
	b, r := f.pending(call("send", "1"))
	if !r.Once {
		t.Error("the request does not say that a yes is kept")
	}
	f.resolve(b, r.Approve(""))
	wantState(t, f.Review(t.Context(), call("send", "1"), call("send", "2")), policy.StateSessionApproved, policy.StatePending)
	if keep := b.Outcome(0).Decision.Remember.Keep; keep != approval.KeepSession {
		t.Errorf("recorded as kept %q", keep)
	}
}

func TestModeDoesNotRememberOncePerSession(t *testing.T) {
	f := newFixture(t, withApprover(approval.ApproverFunc(everything)))
	f.tools.Set("send", approval.Proposal{Once: true})
	if got := f.Decide(t.Context(), call("send", "1"))[0].State; got != policy.StateModeApproved {
		t.Errorf("state %s", got)
	}
	f.wantNothingLeft()
}

// full is a store that takes nothing.
type full struct{ *approval.Memory }

var errFull = errors.New("disk full")

func (full) AddRules(context.Context, ...policy.Rule) error   { return errFull }
func (full) AddGrants(context.Context, ...policy.Grant) error { return errFull }

func TestAnswerThatCannotBeSavedLeavesTheRequestPending(t *testing.T) {
	f := newFixture(t, func(c *approval.Config) { c.Rules, c.Grants = full{approval.NewMemory(0)}, full{approval.NewMemory(0)} })
	b, r := f.pending(call("send", "1"))
	for _, d := range []approval.Decision{r.Approve("").ForSession(policy.ReachExact), r.Approve("").Always(), r.Deny("").Always()} {
		wantError(t, b.Resolve(t.Context(), d), errFull)
		wantState(t, b, policy.StatePending)
	}
	f.resolve(b, r.Approve(""))
	wantState(t, b, policy.StateApproved)
}

func TestSavingSettlesWhatItCoversAndCoversPredictsIt(t *testing.T) {
	for name, answer := range map[string]func(*approval.Request) approval.Decision{
		"grant":      func(r *approval.Request) approval.Decision { return r.Approve("").ForSession(policy.ReachTool) },
		"exact":      func(r *approval.Request) approval.Decision { return r.Approve("").ForSession(policy.ReachExact) },
		"rule":       func(r *approval.Request) approval.Decision { return r.Approve("").Always("allow send") },
		"deny":       func(r *approval.Request) approval.Decision { return r.Deny("").Always("deny send") },
		"denial":     func(r *approval.Request) approval.Decision { return r.Deny("").ForSession(policy.ReachTool) },
		"once":       func(r *approval.Request) approval.Decision { return r.Approve("") },
		"impossible": func(r *approval.Request) approval.Decision { return r.Approve("").Always("allow mail") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			two := call("send", "other session")
			two.Session = "two"
			worker := call("send", "worker")
			worker.Workers = []string{"w"}
			batches := []*approval.Batch{
				f.Review(t.Context(), call("send", "1"), call("mail", "1"), call("send", "2")),
				f.Review(t.Context(), call("send", "1"), two, worker),
			}
			b, r := f.pending(call("send", "1"))
			var want []string
			for _, c := range f.Covers(t.Context(), r, answer(r)) {
				want = append(want, c.Batch+" "+c.ID)
			}
			if err := b.Resolve(t.Context(), answer(r)); (err != nil) != (name == "impossible") {
				t.Fatal(err)
			}
			var got []string
			for _, batch := range batches {
				for _, o := range batch.Outcomes() {
					if o.State != policy.StatePending {
						got = append(got, batch.ID()+" "+o.Request)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("settled %q, predicted %q", got, want)
			}
			if n := map[string]int{"grant": 3, "exact": 2, "rule": 5, "deny": 5, "denial": 4}[name]; len(got) != n {
				t.Errorf("settled %d requests, want %d", len(got), n)
			}
		})
	}
}

func TestCoversKnowsTheGrantsOfOtherSessions(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("both", approval.Proposal{Acts: []policy.Act{fileAct("notes/a.md"), {Name: "send", Target: policy.TextTarget("x"), Verdict: policy.VerdictAsk}}})
	first := call("write", "1")
	first.Session = "two"
	b, r := f.pending(first)
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	both := call("both", "1")
	both.Session = "two"
	waits, _ := f.pending(both)
	b, r = f.pending(call("send", "1"))
	d := r.Approve("").Always("allow send")
	if got := f.Covers(t.Context(), r, d); len(got) != 1 || got[0].Call.Tool != "both" {
		t.Errorf("covers %v, want the request of the other session", got)
	}
	f.resolve(b, d)
	wantState(t, waits, policy.StateSessionApproved)
}

func TestTwoGatesShareOneMemory(t *testing.T) {
	f := newFixture(t)
	g := f.another()
	waits := g.Review(t.Context(), call("send", "1"), call("send", "2"))
	b, r := f.pending(call("send", "1"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	wantState(t, waits, policy.StateSessionApproved, policy.StatePending)
	f.addRule("deny send")
	wantState(t, waits, policy.StateSessionApproved, policy.StateAutoDenied)
	g.Close()
	closed := g.Review(t.Context(), call("mail", "1"))
	f.addRule("allow mail")
	wantState(t, closed, policy.StatePending)
}

func TestRuleForManyWaitingRequests(t *testing.T) {
	f := newFixture(t)
	var waits []*approval.Batch
	for i := range 40 {
		b, _ := f.pending(call("send", fmt.Sprint(i)))
		waits = append(waits, b)
	}
	f.addRule("allow send")
	for _, b := range waits {
		wantState(t, b, policy.StateAutoApproved)
		if o := b.Outcome(0); o.Rule != "allow send" || o.Err() != nil {
			t.Errorf("by %q: %v", o.Rule, o.Err())
		}
	}
	if err := f.memory.RemoveRule("allow send"); err != nil {
		t.Fatal(err)
	}
	fill(f) // nothing is counted any more: 200 others can wait
}
