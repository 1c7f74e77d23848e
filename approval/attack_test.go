package approval_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// The attacks of a red team on what a yes is a yes to. Those on what is
// remembered are in attack_grant_test.go, those on size in attack_size_test.go,
// those on what is judged in attack_judge_test.go.

// The tool is started with a proposal that it made from other arguments.
func TestAProposalFromOtherArgumentsDoesNotStart(t *testing.T) {
	f := newFixture(t)
	from := func(args string) approval.Proposal {
		return approval.Proposal{Arguments: policy.DigestOf([]byte(args)), Acts: []policy.Act{{Name: "send", Target: policy.TextTarget("ann"), Verdict: policy.VerdictAsk}}}
	}
	f.tools.Set("send", from(`{"what":"polite"}`))
	b := f.approved(call("send", "polite"))
	_, err := b.Start(t.Context(), 0, from(`{"what":"rude"}`))
	wantError(t, err, approval.ErrChanged)
	wantState(t, b, policy.StatePending)
}

// A person chooses "inside the sandbox", and the tool then gives the choice
// another meaning, or adds one.
func TestChoicesAreBoundToTheAnswer(t *testing.T) {
	for name, now := range map[string][]approval.Choice{
		"another label": {{ID: "1", Label: "without the sandbox"}},
		"another id":    {{ID: "2", Label: "inside the sandbox"}},
		"one more":      {{ID: "1", Label: "inside the sandbox"}, {ID: "2", Label: "without the sandbox"}},
		"none":          nil,
	} {
		f := newFixture(t)
		f.tools.Set("sh", approval.Proposal{Acts: []policy.Act{commandAct("make")}, Choices: []approval.Choice{{ID: "1", Label: "inside the sandbox"}}})
		b, r := f.pending(call("sh", "x"))
		d := r.Approve("")
		d.Choice = "1"
		f.resolve(b, d)
		f.tools.Set("sh", approval.Proposal{Acts: []policy.Act{commandAct("make")}, Choices: now})
		if _, err := f.start(b); err == nil {
			t.Errorf("%s: it runs", name)
		}
		wantState(t, b, policy.StatePending)
	}
}

// The choice of a call is carried over to other arguments that nobody saw.
func TestAChoiceIsNotCarriedOverAChangeNobodySaw(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", approval.Proposal{Choices: []approval.Choice{{ID: "unboxed", Label: "without the sandbox"}}})
	b, r := f.pending(call("send", "ls"))
	f.tools.Set("send", approval.Proposal{Acts: []policy.Act{{Name: "send", Target: policy.TextTarget("x"), Verdict: policy.VerdictFree}}})
	d := r.Change([]byte(`{"what":"make"}`), "")
	d.Choice = "unboxed"
	f.resolve(b, d)
	wantState(t, b, policy.StateFree)
	if got := b.Outcome(0).Decision.Choice; got != "" {
		t.Errorf("it runs with the choice %q, which it does not offer", got)
	}
}

// Nobody could tell from the log that a person let a command out of the sandbox.
func TestEventsSayWhatWasChosen(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", approval.Proposal{Choices: []approval.Choice{{ID: "unboxed", Label: "without the sandbox"}}})
	b, r := f.pending(call("send", "x"))
	d := r.Approve("")
	d.Choice = "unboxed"
	f.resolve(b, d)
	if _, err := f.start(b); err != nil {
		t.Fatal(err)
	}
	if e := f.recorder.Of("send x"); len(e) != 1 || e[0].Choice != "unboxed" {
		t.Errorf("events %+v", e)
	}
}

// A person changes a call; what it becomes is approved by the mode, and the
// change then passes for a person's yes at a gate without that mode.
func TestAModesYesIsNotThePersonsWhoChangedTheCall(t *testing.T) {
	f := newFixture(t)
	root := fileAct("notes")
	root.PersonOnly = true
	prepare := approvaltest.PreparerFunc(func(_ context.Context, c policy.Call) (approval.Proposal, error) {
		if strings.Contains(string(c.Arguments), "root") {
			return approval.Proposal{Acts: []policy.Act{root}}, nil
		}
		return approval.Proposal{Acts: []policy.Act{fileAct("notes/b.md")}}, nil
	})
	with := func(m policy.Mode) func(*approval.Config) {
		return func(c *approval.Config) { c.Preparer, c.Mode = prepare, m }
	}
	b := f.another(with(policy.ModeApproveAll)).Review(t.Context(), call("w", "root"))
	f.resolve(b, b.Pending()[0].Change([]byte(`{"what":"other"}`), ""))
	wantState(t, b, policy.StateModeApproved)

	b, err := f.another(with(policy.ModeStrict)).Restore(t.Context(), f.save(b))
	if err != nil {
		t.Fatal(err)
	}
	p, _ := prepare(t.Context(), b.Outcome(0).Call)
	_, err = b.Start(t.Context(), 0, p)
	wantError(t, err, approval.ErrChanged)
	wantState(t, b, policy.StateModeDenied)
}

// The answer in a saved batch is turned from a yes into a no, and runs.
func TestANoOfAModeDoesNotRun(t *testing.T) {
	f := newFixture(t, withApprover(approval.ApproverFunc(everything)))
	b := f.Review(t.Context(), call("send", "x"))
	f.Ask(t.Context(), b)
	wantState(t, b, policy.StateModeApproved)
	saved := strings.Replace(string(f.save(b)), `"answer":"approve"`, `"answer":"deny"`, 1)
	b, err := f.another(withMode(policy.ModeStrict)).Restore(t.Context(), []byte(saved))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.start(b)
	wantError(t, err, approval.ErrChanged)
	wantState(t, b, policy.StateModeDenied)
}

// An answer whose way is no person's is given under a name that nobody checks.
func TestAnAnswerByAnUnknownWayHasNoEffect(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "x"))
	for _, via := range []policy.Via{"Mode", "mode ", "robot", "RULE"} {
		d := r.Approve("")
		d.By.Via = via
		wantError(t, b.Resolve(t.Context(), d), approval.ErrInvalidDecision)
	}
	wantState(t, b, policy.StatePending)
}

// endless is how often the approvers below answer before the test gives up.
const endless = 3000

// An approver changes the arguments forever, and the run never goes on.
func TestAnApproverThatChangesForEverIsGivenUp(t *testing.T) {
	asked := 0
	f := newFixture(t, withApprover(approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		if asked++; asked >= endless {
			return r.Deny(""), nil
		}
		return r.Change(fmt.Appendf(nil, `{"what":"%d"}`, asked), ""), nil
	})))
	o := f.Decide(t.Context(), call("send", "x"))[0]
	if o.State != policy.StateDenied || asked > endless/10 {
		t.Errorf("%s after %d changes", o.State, asked)
	}
}

// An approver writes into the request that only a person may answer, and is
// asked forever.
func TestAnApproverThatWritesIntoTheRequestIsGivenUp(t *testing.T) {
	act := fileAct("a")
	act.PersonOnly = true
	asked := 0
	f := newFixture(t, withApprover(approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		if asked++; asked >= endless {
			return r.Deny(""), nil
		}
		r.PersonOnly = false
		d := r.Approve("")
		d.By.Via = policy.ViaMode
		return d, nil
	})))
	f.tools.Set("w", approval.Proposal{Acts: []policy.Act{act}})
	o := f.Decide(t.Context(), call("w", "x"))[0]
	if o.State != policy.StateDenied || asked >= endless {
		t.Errorf("%s after %d questions", o.State, asked)
	}
}

// An approver ends its goroutine, and the run waits forever.
func TestAnApproverThatNeverReturnsRefuses(t *testing.T) {
	exits := approval.ApproverFunc(func(context.Context, *approval.Request) (approval.Decision, error) {
		runtime.Goexit()
		return approval.Decision{}, nil
	})
	for name, a := range map[string]approval.Approver{"alone": exits, "among others": approval.First(exits)} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, withApprover(a))
			if o := f.Decide(t.Context(), call("send", "x"))[0]; o.State != policy.StateDenied {
				t.Errorf("%s: %s", name, o.State)
			}
		})
	}
}

// Approve-all, asked beside a person, is the faster one and refuses for her.
func TestApproveAllLeavesThePersonTimeToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		act := fileAct("a")
		act.PersonOnly = true
		person := after(time.Minute, approvaltest.Script(approvaltest.Yes))
		f := newFixture(t, withApprover(approval.First(person, approval.ApproverFunc(everything))))
		f.tools.Set("w", approval.Proposal{Acts: []policy.Act{act}})
		if o := f.Decide(t.Context(), call("w", "x"))[0]; o.State != policy.StateApproved {
			t.Errorf("%s: %s", o.State, o.Why)
		}
	})
}
