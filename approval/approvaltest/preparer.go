package approvaltest

import (
	"context"
	"fmt"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// PreparerFunc makes a Preparer of a function.
type PreparerFunc func(context.Context, policy.Call) (approval.Proposal, error)

// Prepare calls f.
func (f PreparerFunc) Prepare(ctx context.Context, call policy.Call) (approval.Proposal, error) {
	return f(ctx, call)
}

// Tools is a Preparer that proposes what it was told, by the tool's name. A
// proposal without acts gets one: the tool itself with the digest of its
// arguments, which asks. It is safe for concurrent use. Make one with [NewTools].
type Tools struct {
	mu        sync.Mutex
	proposals map[string]approval.Proposal
}

var _ approval.Preparer = (*Tools)(nil)

// NewTools returns tools of these names that ask.
func NewTools(names ...string) *Tools {
	t := &Tools{proposals: map[string]approval.Proposal{}}
	for _, name := range names {
		t.Set(name, approval.Proposal{})
	}
	return t
}

// Set says what a tool proposes from now on. The name has its connector before
// a colon, if it has one.
func (t *Tools) Set(name string, p approval.Proposal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.proposals[name] = p
}

// Remove takes a tool away.
func (t *Tools) Remove(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.proposals, name)
}

// Prepare implements [approval.Preparer]. A tool that is not there is an error.
func (t *Tools) Prepare(_ context.Context, call policy.Call) (approval.Proposal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.proposals[call.Name()]
	if !ok {
		return p, fmt.Errorf("unknown tool %q", call.Name())
	}
	if len(p.Acts) == 0 {
		p.Acts = []policy.Act{{
			Name: call.Tool, Connector: call.Connector, Known: true, Verdict: policy.VerdictAsk,
			Target: policy.ArgumentsTarget(call.Arguments),
		}}
	}
	return p, nil
}
