package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// Approval says how a call is put to a person, from its arguments. Every field
// may be left out.
type Approval[In any] struct {
	// Describe gives the summary of one line; else it is "Tool call: NAME".
	Describe func(In) string
	// Target gives what the act is about: what is remembered and logged. Calls
	// with the same target are the same act. Without it every argument counts.
	Target func(In) string
	// View gives what is shown; else it is the arguments.
	View func(In) present.View
}

// RequireApproval returns the tool as one that asks before every call, like a
// decorator. What the tool blocks stays blocked.
func RequireApproval[In any](t Tool, how Approval[In]) Tool {
	return wrap(t, func(ctx context.Context, args json.RawMessage) (Action, error) {
		a, err := t.Prepare(ctx, args)
		if err != nil {
			return a, err
		}
		in, err := decodeLoosely[In](t.Spec().FullName(), args)
		if err != nil {
			return Action{}, err
		}
		a = asking(a, "the tool requires approval")
		if how.Describe != nil {
			a = a.Titled(how.Describe(in))
		}
		if how.Target != nil && len(a.acts) == 0 {
			a = a.OnTarget(approval.TextTarget(how.Target(in)))
		}
		if how.View != nil {
			a = a.Showing(func(context.Context) (present.View, error) { return how.View(in), nil })
		}
		return a, nil
	})
}

// decodeLoosely reads the part of the arguments that In knows.
func decodeLoosely[In any](tool string, args json.RawMessage) (In, error) {
	var in In
	if err := json.Unmarshal(args, &in); err != nil {
		return in, &ArgumentError{Tool: tool, Err: err}
	}
	return in, nil
}

// NeedsApproval returns the tools as ones that ask before every call, or, with
// false, as they are.
func NeedsApproval(needs bool, tools ...Tool) []Tool {
	return NeedsApprovalIf(func(context.Context, approval.Call) (bool, error) { return needs, nil }, tools...)
}

// NeedsApprovalIf returns the tools as ones that ask whenever the function says
// so. It sees the name and the arguments of the call; an error refuses it. Where
// it says no, the tool's own word stands.
func NeedsApprovalIf(needs func(context.Context, approval.Call) (bool, error), tools ...Tool) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		out[i] = wrap(t, func(ctx context.Context, args json.RawMessage) (Action, error) {
			spec := t.Spec()
			ask, err := needs(ctx, approval.Call{Connector: spec.Connector, Tool: spec.Name, Arguments: args})
			if err != nil {
				return Action{}, fmt.Errorf("whether %s needs approval cannot be told: %w", spec.FullName(), err)
			}
			a, err := t.Prepare(ctx, args)
			if err == nil && ask {
				a = asking(a, "the tool needs approval")
			}
			return a, err
		})
	}
	return out
}

// asking returns the action with every free act made to ask.
func asking(a Action, why string) Action {
	if a.verdict == approval.Free {
		a.verdict = approval.Ask
		if a.why == "" {
			a.why = why
		}
	}
	return a.mapActs(func(act approval.Act) approval.Act {
		if act.Verdict == approval.Free {
			act.Verdict, act.Why = approval.Ask, why
		}
		return act
	})
}

// wrap returns a tool with another way to prepare its calls.
func wrap(t Tool, prepare func(context.Context, json.RawMessage) (Action, error)) Tool {
	return &wrapped{Tool: t, prepare: prepare}
}

type wrapped struct {
	Tool
	prepare func(context.Context, json.RawMessage) (Action, error)
}

func (w *wrapped) Prepare(ctx context.Context, args json.RawMessage) (Action, error) {
	return w.prepare(ctx, args)
}

func (w *wrapped) check() error {
	if f, ok := w.Tool.(interface{ check() error }); ok {
		return f.check()
	}
	return nil
}
