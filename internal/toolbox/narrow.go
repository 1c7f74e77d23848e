package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
	"github.com/assent-dev/assent/tool/shell"
)

// narrow makes the tools of the box as strict as those that a caller's policy would give
// in its place, and leaves out those that the caller does not have.
func (b *Box) narrow(caller *Box, opts Options) error {
	conf := *caller.Policy
	conf.Shell.Cwd = b.Policy.Shell.Cwd
	conf.HasShell = conf.HasShell && b.commands != nil // else there is nothing to narrow, and maybe no folder for it
	// What the caller would ask is asked before: later only the worker's own tool knows what
	// was answered with the command.
	conf.Shell.Running = false
	conf.CustomTools = b.sameTools(caller)
	opts.Undo, opts.Looking = nil, true
	mine, err := b.make(&conf, opts)
	if err != nil {
		return fmt.Errorf("reading what the caller may do: %w", err)
	}
	configured, _, err := tool.Configure(conf.Tools, mine...)
	if err != nil {
		return err
	}
	set, err := tool.NewSet(configured...)
	if err != nil {
		return err
	}
	var known []string
	for _, s := range set.Specs() {
		known = append(known, s.FullName())
	}
	b.Tools = slices.DeleteFunc(b.Tools, func(t tool.Tool) bool { return !slices.Contains(known, t.Spec().FullName()) })
	for i, t := range b.Tools {
		b.Tools[i] = tool.NeedsApprovalIf(asks(set), &within{Tool: t, caller: set})[0]
	}
	return nil
}

// sameTools returns those custom tools of a caller that the callee has as well: the same
// program under the same name.
func (b *Box) sameTools(caller *Box) []command.Config {
	var out []command.Config
	for _, c := range caller.Policy.CustomTools {
		theirs, ours := caller.programs[c.Name], b.programs[c.Name]
		if len(theirs.argv) > 0 && slices.Equal(theirs.argv, ours.argv) && theirs.folder == ours.folder {
			c.Command = theirs.argv
			out = append(out, c)
		}
	}
	return out
}

// A within is a tool of a worker that was called: what its caller blocks is blocked.
type within struct {
	tool.Tool
	caller *tool.Set
}

// Prepare implements [tool.Tool].
func (w *within) Prepare(ctx context.Context, args json.RawMessage) (tool.Action, error) {
	p, err := word(ctx, w.caller, w.Spec(), args)
	if err != nil {
		return tool.Action{}, err
	}
	for _, a := range p.Acts {
		if a.Verdict == policy.VerdictBlock {
			return tool.Block(a.Why), nil
		}
	}
	a, err := w.Tool.Prepare(ctx, args)
	if i := slices.IndexFunc(p.Acts, func(a policy.Act) bool { return a.PersonOnly }); i >= 0 && err == nil {
		a = a.OnlyByPerson(p.Acts[i].Why)
	}
	return a, err
}

// Turn implements [tool.TurnTool] for a tool that is one.
func (w *within) Turn(ctx context.Context) context.Context {
	if t, ok := w.Tool.(tool.TurnTool); ok {
		return t.Turn(ctx)
	}
	return ctx
}

// asks reports whether the caller would have to ask.
func asks(set *tool.Set) func(context.Context, policy.Call) (bool, error) {
	return func(ctx context.Context, call policy.Call) (bool, error) {
		p, err := word(ctx, set, tool.Spec{Connector: call.Connector, Name: call.Tool}, call.Arguments)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(p.Acts, func(a policy.Act) bool { return a.Verdict != policy.VerdictFree }), nil
	}
}

// word is what the caller's tool says about a call.
func word(ctx context.Context, set *tool.Set, s tool.Spec, args json.RawMessage) (approval.Proposal, error) {
	return set.Prepare(apart{ctx}, policy.Call{Connector: s.Connector, Tool: s.Name, Arguments: args})
}

// apart is a context without its values: what the caller would say about a call leaves no
// trace in the turn that the call is prepared in. What a running command is about to do is
// the call itself.
type apart struct{ context.Context }

// Value implements [context.Context].
func (a apart) Value(key any) any {
	if shell.ActKey(key) {
		return a.Context.Value(key)
	}
	return nil
}
