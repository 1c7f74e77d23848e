package hook

import (
	"bytes"
	"context"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// early is a set of tools that has prepared a call before the gate asks, for as long as
// the gate asks about that one first.
type early struct {
	*tool.Set
	shell     string // that the agent runs commands with
	arguments []byte // nil once it was asked
	proposal  approval.Proposal
	err       error
}

// prepareEarly prepares a call as the gate will.
func prepareEarly(ctx context.Context, set *tool.Set, shell string, call approval.Call) *early {
	e := &early{Set: set, shell: shell}
	args, err := approval.CanonicalArguments(call.Arguments)
	if err != nil {
		return e // the gate says so
	}
	call.Arguments, e.arguments = args, args
	e.proposal, e.err = e.guarded(set.Turn(ctx), call)
	return e
}

// Prepare implements [approval.Preparer].
func (e *early) Prepare(ctx context.Context, call approval.Call) (approval.Proposal, error) {
	args := e.arguments
	e.arguments = nil
	if args != nil && bytes.Equal(args, call.Arguments) {
		return e.proposal, e.err
	}
	return e.guarded(ctx, call)
}

// guarded is what a call would do, to an agent's own settings too, and in its own shell.
func (e *early) guarded(ctx context.Context, call approval.Call) (approval.Proposal, error) {
	p, err := e.Set.Prepare(ctx, call)
	p.Acts = guard(p.Acts)
	if err == nil && call.Connector == "" && call.Tool == approval.Shell {
		p.Acts = raw(p.Acts, call.Arguments, e.shell)
	}
	return p, err
}
