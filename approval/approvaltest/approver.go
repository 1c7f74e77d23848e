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

// An Answer makes a decision about a request.
type Answer func(*approval.Request) approval.Decision

// Yes approves once.
func Yes(r *approval.Request) approval.Decision { return r.Approve("") }

// No refuses once.
func No(r *approval.Request) approval.Decision { return r.Deny("") }

// YesForSession approves exactly these acts for the session.
func YesForSession(r *approval.Request) approval.Decision {
	return r.Approve("").ForSession(policy.ReachExact)
}

// An Approver answers as its script says, one answer after another, and fails
// when the script is over. It is safe for concurrent use.
type Approver struct {
	mu     sync.Mutex
	script []Answer
	asked  []*approval.Request
}

var _ approval.Approver = (*Approver)(nil)

// Script returns an approver that gives these answers.
func Script(answers ...Answer) *Approver { return &Approver{script: answers} }

// Approve gives the next answer.
func (a *Approver) Approve(_ context.Context, r *approval.Request) (approval.Decision, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r)
	if len(a.script) == 0 {
		return approval.Decision{}, fmt.Errorf("the script has no answer to %s", r.Summary)
	}
	answer := a.script[0]
	a.script = a.script[1:]
	return answer(r), nil
}

// Asked returns the requests that were put to the approver, in order.
func (a *Approver) Asked() []*approval.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// Silent never answers: it waits until the question is withdrawn.
var Silent approval.Approver = approval.ApproverFunc(
	func(ctx context.Context, _ *approval.Request) (approval.Decision, error) {
		<-ctx.Done()
		return approval.Decision{}, context.Cause(ctx)
	})

// TestApprover is the suite that every [approval.Approver] must pass, whatever
// it answers. Open returns an approver; a person who is asked through it may
// answer or stay silent. The suite does not wait for a silent one: it cancels.
func TestApprover(t *testing.T, open func(t *testing.T) approval.Approver) {
	t.Run("returns when the context is done", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		a := open(t)
		r := askingGate(t, a).Review(ctx, policy.Call{ID: "1", Tool: "ask"}).Pending()[0]
		cancel()
		d, err := a.Approve(ctx, r) // hangs if it does not
		if err != nil && d.Answer != approval.AnswerNone {
			t.Errorf("it fails with %v and answers %q", err, d.Answer)
		}
	})
	t.Run("approves nothing after the context is done", func(t *testing.T) {
		gate := askingGate(t, open(t))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, o := range gate.Decide(ctx, policy.Call{ID: "1", Tool: "ask"}, policy.Call{ID: "2", Tool: "ask"}) {
			if o.Runs() || o.State == policy.StatePending {
				t.Errorf("call %s is %s after its context was done", o.Call.ID, o.State)
			}
		}
	})
	t.Run("a withdrawn question has no effect", func(t *testing.T) {
		gate := askingGate(t, open(t))
		b := gate.Review(t.Context(), policy.Call{ID: "1", Tool: "ask"})
		r := b.Pending()[0]
		if err := b.Resolve(t.Context(), r.Deny("somebody else said no")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(&approval.WithdrawnError{Request: r.ID, State: policy.StateDenied})
		if d, err := open(t).Approve(ctx, r); err == nil {
			d.Request, d.Fingerprint = r.ID, r.Fingerprint
			if err := b.Resolve(t.Context(), d); !errors.Is(err, approval.ErrSettled) {
				t.Errorf("a second answer: %v, want ErrSettled", err)
			}
		}
		if o := b.Outcome(0); o.State != policy.StateDenied || o.Note() != "somebody else said no" {
			t.Errorf("the call is %s (%s), want the first answer", o.State, o.Note())
		}
	})
	t.Run("answers are for the request", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		a := stopping{open(t), cancel}
		b := askingGate(t, a).Review(ctx, policy.Call{ID: "1", Tool: "ask"})
		r := b.Pending()[0]
		d, err := a.Approve(ctx, r)
		if err == nil && d.Request != "" && (d.Request != r.ID || d.Arguments == nil && d.Fingerprint != r.Fingerprint) {
			t.Errorf("the answer is for request %q (%s), want %q (%s)", d.Request, d.Fingerprint, r.ID, r.Fingerprint)
		}
	})
}

// stopping cancels the question while it is asked, so that a silent approver
// returns.
type stopping struct {
	approval.Approver
	cancel context.CancelFunc
}

func (s stopping) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	type reply struct {
		decision approval.Decision
		err      error
	}
	got := make(chan reply)
	go func() {
		d, err := s.Approver.Approve(ctx, r)
		got <- reply{d, err}
	}()
	s.cancel()
	answer := <-got
	return answer.decision, answer.err
}

func askingGate(t *testing.T, a approval.Approver) *approval.Gate {
	t.Helper()
	gate, err := approval.New(approval.Config{
		Preparer: NewTools("ask"), Clock: new(Clock).Now, NewID: IDs(), Approver: a,
	})
	if err != nil {
		t.Fatal(err)
	}
	return gate
}
