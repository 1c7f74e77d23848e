package store_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// TestTheMasterSwitchReachesGates turns asking off and on while a gate of another
// program works. What waits is still asked; what was let through and has not begun
// is asked after all.
func TestTheMasterSwitchReachesGates(t *testing.T) {
	folder, ctx := t.TempDir(), t.Context()
	person, running := openStore(t, folder, store.Options{}), openStore(t, folder, store.Options{})
	tools := approvaltest.NewTools("send")
	g, err := approval.New(approval.Config{Preparer: tools, Clock: time.Now, NewID: rand.Text, Session: "s", Rules: running, Grants: running})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	state := func(b *approval.Batch, want policy.State) {
		t.Helper()
		if got := b.Outcome(0).State; got != want {
			t.Fatalf("the call is %s, want %s", got, want)
		}
	}
	review := func(id string) *approval.Batch { return g.Review(ctx, policy.Call{ID: id, Tool: "send"}) }
	turn := func(on bool) {
		t.Helper()
		told := make(chan struct{}, 10)
		defer running.Notify(func() { told <- struct{}{} })()
		if err := person.SetApprovals(ctx, on); err != nil {
			t.Fatal(err)
		}
		<-told
	}
	before := review("before")
	state(before, policy.StatePending)
	turn(false)
	state(before, policy.StatePending)
	meanwhile := review("meanwhile")
	state(meanwhile, policy.StateModeApproved)
	turn(true)
	if _, err := meanwhile.Start(ctx, 0, prepared(ctx, t, tools, meanwhile)); err == nil {
		t.Error("a call began that nobody would let through any more")
	}
	state(meanwhile, policy.StatePending)
	state(review("after"), policy.StatePending)
}

func prepared(ctx context.Context, t *testing.T, tools approval.Preparer, b *approval.Batch) approval.Proposal {
	t.Helper()
	p, err := tools.Prepare(ctx, b.Outcome(0).Call)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
