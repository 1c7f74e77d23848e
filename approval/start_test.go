package approval_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// How a call can come to be allowed: by a person, by what a person said of an
// earlier one, or because it is free.
func free(f *fixture) *approval.Batch    { return f.Review(f.t.Context(), call("read", "x")) }
func once(f *fixture) *approval.Batch    { return f.approved(call("send", "x")) }
func always(f *fixture) *approval.Batch  { return kept(f, approval.Decision.Always) }
func session(f *fixture) *approval.Batch { return kept(f, forAnHour) }

func forAnHour(d approval.Decision, _ ...string) approval.Decision {
	d.Remember.For = time.Hour
	return d.ForSession(policy.ReachExact)
}

func kept(f *fixture, keep func(approval.Decision, ...string) approval.Decision) *approval.Batch {
	f.t.Helper()
	b, r := f.pending(call("send", "first"))
	f.resolve(b, keep(r.Approve("")))
	next := call("send", "first")
	next.ID = "next"
	b = f.Review(f.t.Context(), next)
	if o := b.Outcome(0); o.State != policy.StateAutoApproved && o.State != policy.StateSessionApproved {
		f.t.Fatalf("the later call is %s", o.State)
	}
	return b
}

func TestLastMoment(t *testing.T) {
	def := policy.DigestOf([]byte("new definition"))
	for name, c := range map[string]struct {
		how    func(f *fixture) *approval.Batch // how the call came to be allowed
		change func(f *fixture)                 // what happens between the answer and the start
		want   policy.State                     // what the call is then
	}{
		"deny added after a yes":     {once, func(f *fixture) { f.addRule("deny send") }, policy.StateAutoDenied},
		"deny added after a grant":   {session, func(f *fixture) { f.addRule("deny send") }, policy.StateAutoDenied},
		"deny added to what is free": {free, func(f *fixture) { f.addRule("deny read") }, policy.StateAutoDenied},
		"rule disabled":              {always, func(f *fixture) { enable(f, false) }, policy.StatePending},
		"rule removed":               {always, func(f *fixture) { f.memory.RemoveRule(ruleID(f)) }, policy.StatePending},
		"grant expired":              {session, func(f *fixture) { f.clock.Advance(time.Hour) }, policy.StatePending},
		"grant revoked":              {session, func(f *fixture) { f.memory.RevokeGrant("s", grantID(f)) }, policy.StatePending},
		"grants cleared":             {session, func(f *fixture) { f.memory.ClearGrants("s") }, policy.StatePending},
		"definition changed, yes":    {once, func(f *fixture) { f.tools.Set("send", approval.Proposal{Definition: def}) }, policy.StatePending},
		"definition changed, rule":   {always, func(f *fixture) { f.tools.Set("send", approval.Proposal{Definition: def}) }, policy.StatePending},
		"definition changed, grant":  {session, func(f *fixture) { f.tools.Set("send", approval.Proposal{Definition: def}) }, policy.StatePending},
		"file changed after a yes": {once, func(f *fixture) {
			f.tools.Set("send", approval.Proposal{Definition: policy.DigestOf([]byte("definition")), State: def})
		}, policy.StatePending},
		"file changed, grant": {session, func(f *fixture) {
			f.tools.Set("send", approval.Proposal{Definition: policy.DigestOf([]byte("definition")), State: def})
		}, policy.StateSessionApproved},
		"profile changed":              {once, func(f *fixture) { f.tools.Set("send", approval.Proposal{Profile: def}) }, policy.StatePending},
		"it does something else":       {once, func(f *fixture) { f.tools.Set("send", approval.Proposal{Acts: []policy.Act{fileAct("x")}}) }, policy.StatePending},
		"the tool blocks it now":       {once, func(f *fixture) { f.tools.Set("send", approval.Proposal{Acts: []policy.Act{{Name: "send"}}}) }, policy.StateBlocked},
		"the folder changed":           {once, func(f *fixture) { f.tools.Set("send", approval.Proposal{Dir: "elsewhere"}) }, policy.StatePending},
		"the tool is gone":             {once, func(f *fixture) { f.tools.Remove("send") }, policy.StateInvalid},
		"rule disabled, grant instead": {always, func(f *fixture) { instead(f) }, policy.StateSessionApproved},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.tools.Set("send", approval.Proposal{Definition: policy.DigestOf([]byte("definition"))})
			b := c.how(f)
			c.change(f)
			exec, err := f.start(b)
			if o := b.Outcome(0); o.State != c.want {
				t.Errorf("the call is %s, want %s", o.State, c.want)
			}
			if name == "rule disabled, grant instead" {
				if err != nil || exec == nil {
					t.Errorf("what allows it now is a grant: %v", err)
				}
				return
			}
			wantError(t, err, approval.ErrChanged)
			if exec != nil {
				t.Fatal("it runs")
			}
			for _, e := range f.recorder.Events() {
				if e.Kind == approval.EventStarted {
					t.Error("a start was recorded")
				}
			}
			if r := b.Pending(); len(r) == 1 {
				wantText(t, r[0].Why, "asked again because")
			}
		})
	}
}

// The last instant of all: the change comes while the start is being recorded.
func TestLastMomentWhileTheStartIsRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		how    func(f *fixture) *approval.Batch
		change func(f *fixture)
		want   policy.State
	}{
		"deny added":    {once, func(f *fixture) { f.addRule("deny send") }, policy.StateAutoDenied},
		"rule disabled": {always, func(f *fixture) { enable(f, false) }, policy.StatePending},
		"grant expired": {session, func(f *fixture) { f.clock.Advance(time.Hour) }, policy.StatePending},
		"grant revoked": {session, func(f *fixture) { f.memory.RevokeGrant("s", grantID(f)) }, policy.StatePending},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b := c.how(f)
			f.recorder.FailIf(func(e approval.Event) error {
				if e.Kind == approval.EventStarted {
					c.change(f)
				}
				return nil
			})
			exec, err := f.start(b)
			wantError(t, err, approval.ErrChanged)
			o := b.Outcome(0)
			if exec != nil || o.State != c.want {
				t.Errorf("the call is %s, want %s; execution %v", o.State, c.want, exec)
			}
			var seen []string
			for _, e := range f.recorder.Of(o.Call.ID) {
				seen = append(seen, string(e.Kind)+" "+string(e.Stage))
			}
			if len(seen) < 2 || seen[0] != "started executing" || seen[1] != "ended cancelled" {
				t.Errorf("recorded: %q", seen)
			}
		})
	}
}

func ruleID(f *fixture) string {
	set, _ := f.memory.Rules(context.Background())
	return set.Rules()[0].ID
}

func grantID(f *fixture) string {
	set, _ := f.memory.Grants(context.Background(), "s")
	return set.Grants()[0].ID
}

func enable(f *fixture, on bool) {
	if err := f.memory.EnableRule(ruleID(f), on); err != nil {
		f.t.Fatal(err)
	}
}

// instead disables the rule and grants the same for the session.
func instead(f *fixture) {
	enable(f, false)
	b, r := f.pending(call("send", "first"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
}

func TestDefinitionThatChangedAndChangedBackHolds(t *testing.T) {
	f := newFixture(t)
	one := approval.Proposal{Definition: policy.DigestOf([]byte("one"))}
	f.tools.Set("send", one)
	b := f.approved(call("send", "x"))
	f.tools.Set("send", approval.Proposal{Definition: policy.DigestOf([]byte("two"))})
	f.tools.Set("send", one)
	if _, err := f.start(b); err != nil {
		t.Errorf("what the model was shown is what runs: %v", err)
	}
	// What the model was shown decides, not what the gate saw last.
	c := call("send", "y")
	c.Definition = policy.DigestOf([]byte("two"))
	f.addRule("allow send")
	wantState(t, f.Review(t.Context(), c), policy.StatePending)
}

func TestPossibleDenyAddedAfterAYes(t *testing.T) {
	f := newFixture(t, withApprover(approval.ApproverFunc(everything)))
	f.tools.Set("run", approval.Proposal{Acts: []policy.Act{{Name: policy.ActShell, Target: policy.Target{Kind: policy.KindWords, Words: []policy.Word{{Unknown: true}}}, Verdict: policy.VerdictAsk}}})

	b := f.Review(t.Context(), call("run", "1")) // answered by approve-all
	f.Ask(t.Context(), b)
	wantState(t, b, policy.StateModeApproved)
	waits, old := f.pending(call("run", "2"))
	f.addRule("deny shell(git push)")

	_, err := f.start(b)
	wantError(t, err, approval.ErrChanged)
	if r := b.Pending(); len(r) != 1 || !r[0].PersonOnly {
		t.Fatalf("pending %v, want a person asked", r)
	}
	wantText(t, b.Pending()[0].Why, "deny shell(git push)")
	f.Ask(t.Context(), b)
	wantState(t, b, policy.StateDenied)

	// What waits is asked again, with the deny line.
	r := waits.Pending()[0]
	if r.ID == old.ID || !r.PersonOnly {
		t.Error("the request does not say that only a person may answer")
	}
	wantText(t, r.Why, "deny shell(git push)")
	wantError(t, waits.Resolve(t.Context(), old.Approve("")), approval.ErrWrongCall)
	f.resolve(waits, r.Approve(""))
	if _, err := f.start(waits); err != nil {
		t.Errorf("a person knew and said yes: %v", err)
	}
}

func TestEachAnswerStartsOneExecution(t *testing.T) {
	f := newFixture(t)
	b := f.approved(call("send", "x"))
	exec, err := f.start(b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.start(b)
	wantError(t, err, approval.ErrNotAllowed)
	if err := exec.End(t.Context(), approval.StageCompleted, nil); err != nil {
		t.Fatal(err)
	}
	_, err = f.start(b)
	wantError(t, err, approval.ErrNotAllowed)
	if err := exec.End(t.Context(), approval.StageFailed, nil); err == nil {
		t.Errorf("a second end: %v", err)
	}
	if err := exec.Again(t.Context(), approval.ErrChanged); err == nil {
		t.Errorf("again after the end: %v", err)
	}
	if got := b.Outcome(0).Stage; got != approval.StageCompleted {
		t.Errorf("stage %s", got)
	}
}

func TestEndTakesOnlyEnds(t *testing.T) {
	f := newFixture(t)
	exec, err := f.start(f.approved(call("send", "x")))
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range []approval.Stage{approval.StageWaiting, approval.StageReady, approval.StageExecuting, approval.StageRefused, "", "done"} {
		if err := exec.End(t.Context(), stage, nil); err == nil {
			t.Errorf("ended as %q: %v", stage, err)
		}
	}
	if err := exec.End(t.Context(), approval.StageUnknown, nil); err != nil {
		t.Error(err)
	}
}

func TestAgainJudgesTheCallAgain(t *testing.T) {
	f := newFixture(t)
	b := f.approved(call("send", "x"))
	exec, err := f.start(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Again(t.Context(), errors.New("the file grew")); err != nil {
		t.Fatal(err)
	}
	wantState(t, b, policy.StatePending)
	wantText(t, b.Pending()[0].Why, "asked again because the file grew")
	f.resolve(b, b.Pending()[0].Approve(""))
	second, err := f.start(b)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, exec.End(t.Context(), approval.StageCompleted, nil), approval.ErrNotAllowed) // not its to end
	if err := second.End(t.Context(), approval.StageCompleted, nil); err != nil {
		t.Error(err)
	}
}

func TestSuspendedCallIsReenteredOrCancelledButNeverBegunAnew(t *testing.T) {
	f := newFixture(t)
	b := f.approved(call("send", "x"))
	for range 2 {
		exec, err := f.start(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.End(t.Context(), approval.StageSuspended, nil); err != nil {
			t.Fatal(err)
		}
	}
	f.addRule("deny send")
	_, err := f.start(b)
	wantError(t, err, approval.ErrNotAllowed)
	if o := b.Outcome(0); o.Stage != approval.StageCancelled || len(b.Pending()) > 0 {
		t.Errorf("stage %s, %d pending", o.Stage, len(b.Pending()))
	}
	_, err = f.start(b)
	wantError(t, err, approval.ErrNotAllowed)
}

func TestCancelAfterApprovalRunsNothing(t *testing.T) {
	f := newFixture(t)
	b := f.approved(call("send", "x"))
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the user left")
	cancel(gone)
	p, _ := f.tools.Prepare(ctx, b.Outcome(0).Call)
	exec, err := b.Start(ctx, 0, p)
	wantError(t, err, gone)
	if exec != nil || b.Outcome(0).Stage != approval.StageCancelled {
		t.Errorf("it runs, stage %s", b.Outcome(0).Stage)
	}
	_, err = f.start(b)
	wantError(t, err, approval.ErrNotAllowed)
}

func TestWhatCannotBeRecordedDoesNotRun(t *testing.T) {
	for name, fail := range map[string]func(approval.Event) error{
		"error": func(approval.Event) error { return errors.New("disk full") },
		"panic": func(approval.Event) error { panic("disk full") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b := f.approved(call("send", "x"))
			f.recorder.FailIf(fail)
			exec, err := f.start(b)
			wantError(t, err, approval.ErrNotRecorded)
			if exec != nil {
				t.Fatal("it runs")
			}
			f.recorder.FailWith(nil)
			wantState(t, b, policy.StateDenied)
			wantText(t, b.Outcome(0).Err().Error(), "cannot be recorded", "disk full")
			_, err = f.start(b)
			wantError(t, err, approval.ErrNotAllowed)
		})
	}
}

func TestAgainThatCannotBeRecordedRefuses(t *testing.T) {
	f := newFixture(t)
	b := f.approved(call("send", "x"))
	exec, err := f.start(b)
	if err != nil {
		t.Fatal(err)
	}
	f.recorder.FailWith(errors.New("disk full"))
	wantError(t, exec.Again(t.Context(), nil), approval.ErrNotRecorded)
	wantState(t, b, policy.StateDenied)
	f.wantNothingLeft(b)
}
