package approvaltest

import (
	"context"
	"fmt"
	"slices"
	"sync"

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
