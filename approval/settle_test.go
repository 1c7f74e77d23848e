package approval_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// hooked is a rule store that calls its hooks before it does anything.
type hooked struct {
	*approval.Memory
	reading func()
	adding  func() error
}

func (h *hooked) Rules(ctx context.Context) (*policy.RuleSet, error) {
	if h.reading != nil {
		h.reading()
	}
	return h.Memory.Rules(ctx)
}

func (h *hooked) AddRules(ctx context.Context, rules ...policy.Rule) error {
	if h.adding != nil {
		if err := h.adding(); err != nil {
			return err
		}
	}
	return h.Memory.AddRules(ctx, rules...)
}

// quiet is a store that does not tell of changes.
type quiet struct{ approval.RuleStore }

func TestAnswerWhileTheRequestIsLookedAtAgainIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{}
		f := newFixture(t, func(c *approval.Config) {
			store.Memory = c.Rules.(*approval.Memory)
			c.Rules = store
		})
		b, r := f.pending(call("send", "x"))
		release := make(chan struct{})
		var looked atomic.Bool
		store.reading = func() {
			if looked.CompareAndSwap(false, true) {
				<-release
			}
		}
		go f.addRule("allow mail") // looks at the request and finds that it still asks
		synctest.Wait()
		answered := make(chan error, 1)
		go func() { answered <- b.Resolve(context.Background(), r.Approve("")) }()
		synctest.Wait()
		close(release)
		if err := <-answered; err != nil {
			t.Errorf("the only answer: %v", err)
		}
		wantState(t, b, policy.StateApproved)
	})
}

func TestRuleSavedDuringAReviewSettlesItsRequests(t *testing.T) {
	f := newFixture(t)
	f.Gate = f.another(func(c *approval.Config) {
		c.Preparer = approvaltest.PreparerFunc(func(ctx context.Context, call policy.Call) (approval.Proposal, error) {
			if call.Tool == "read" {
				f.addRule("allow send") // after the first call was judged
			}
			return f.tools.Prepare(ctx, call)
		})
	})
	wantState(t, f.Review(t.Context(), call("send", "x"), call("read", "x")), policy.StateAutoApproved, policy.StateFree)
}

func TestRuleSavedWhileAnAnswerFailsSettlesTheRequest(t *testing.T) {
	store := &hooked{}
	f := newFixture(t, func(c *approval.Config) {
		store.Memory = c.Rules.(*approval.Memory)
		c.Rules = store
	})
	b, r := f.pending(call("send", "x"))
	store.adding = func() error {
		f.addRule("allow send") // somebody else was faster
		return errFull
	}
	wantError(t, b.Resolve(t.Context(), r.Approve("").Always()), errFull)
	wantState(t, b, policy.StateAutoApproved)
}

func TestAnswersSettleOthersAlsoIfTheStoreIsQuiet(t *testing.T) {
	f := newFixture(t, quietly)
	waits, _ := f.pending(call("send", "1"))
	b, r := f.pending(call("send", "2"))
	f.resolve(b, r.Approve("").Always("allow send"))
	wantState(t, waits, policy.StateAutoApproved)
}

func TestYesToWhatOnlyAPersonMayAnswerByNow(t *testing.T) {
	f := newFixture(t, quietly)
	f.tools.Set("run", approval.Proposal{Acts: []policy.Act{{Name: policy.ActShell, Target: policy.Target{Kind: policy.KindWords, Words: []policy.Word{{Unknown: true}}}, Verdict: policy.VerdictAsk}}})
	b, r := f.pending(call("run", "x"))
	f.addRule("deny shell(git push)")
	wantError(t, b.Resolve(t.Context(), r.Approve("")), approval.ErrPersonOnly)
	fresh := b.Pending()[0]
	if fresh.ID == r.ID || !fresh.PersonOnly {
		t.Fatal("it is not asked again as what only a person may answer")
	}
	wantText(t, fresh.Why, "deny shell(git push)")
	f.resolve(b, fresh.Approve(""))
	wantState(t, b, policy.StateApproved)
}

func TestYesToWhatIsDeniedByNowRunsNothing(t *testing.T) {
	f := newFixture(t, quietly)
	b, r := f.pending(call("send", "x"))
	f.addRule("deny send")
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	wantState(t, b, policy.StateAutoDenied)
	f.wantNothingLeft(b)
}

func TestFailingStoreLeavesRequestsAlone(t *testing.T) {
	store := &hooked{}
	f := newFixture(t, func(c *approval.Config) {
		store.Memory = c.Rules.(*approval.Memory)
		c.Rules = store
	})
	b, r := f.pending(call("send", "x"))
	store.reading = func() { panic(errors.New("disk on fire")) }
	f.addRule("allow send")
	wantState(t, b, policy.StatePending)
	if err := b.Resolve(t.Context(), r.Approve("")); err == nil {
		t.Error("approved by rules that cannot be read")
	}
	wantState(t, b, policy.StatePending)
	store.reading = nil
	f.resolve(b, r.Approve(""))
	wantState(t, b, policy.StateApproved)
}

// quietly has a gate learn of rules only when it looks.
func quietly(c *approval.Config) { c.Rules, c.Grants = quiet{c.Rules}, approval.NewMemory(0) }
