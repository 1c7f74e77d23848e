package hook

import (
	"bytes"
	"context"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// early is a set of tools that has prepared a call before the gate asks, for as long as
// the gate asks about that one first.
type early struct {
	*tool.Set
	check     checker
	arguments []byte // nil once it was asked
	proposal  approval.Proposal
	err       error
}

// prepareEarly prepares a call as the gate will.
func prepareEarly(ctx context.Context, set *tool.Set, check checker, call policy.Call) *early {
	e := &early{Set: set, check: check}
	args, err := canonical.CanonicalArguments(call.Arguments)
	if err != nil {
		return e // the gate says so
	}
	call.Arguments, e.arguments = args, args
	e.proposal, e.err = e.guarded(set.Turn(ctx), call)
	return e
}

// Prepare implements [approval.Preparer].
func (e *early) Prepare(ctx context.Context, call policy.Call) (approval.Proposal, error) {
	args := e.arguments
	e.arguments = nil
	if args != nil && bytes.Equal(args, call.Arguments) {
		return e.proposal, e.err
	}
	return e.guarded(ctx, call)
}

// A checker looks at what a call would do once more, because another agent runs it.
type checker func(context.Context, policy.Call, []policy.Act) ([]policy.Act, error)

// guarded is what a call would do, to an agent's own settings too, and in its own shell.
func (e *early) guarded(ctx context.Context, call policy.Call) (approval.Proposal, error) {
	p, err := e.Set.Prepare(ctx, call)
	if err != nil {
		return p, err
	}
	p.Acts, err = e.check(ctx, call, guard(p.Acts))
	return p, err
}
