package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent/policy"
)

// NeedsApproval returns the tools as ones that ask before every call, or, with
// false, as they are.
func NeedsApproval(needs bool, tools ...Tool) []Tool {
	return NeedsApprovalIf(func(context.Context, policy.Call) (bool, error) { return needs, nil }, tools...)
}

// NeedsApprovalIf returns the tools as ones that ask whenever the function says
// so. It sees the name and the arguments of the call; an error refuses it. Where
// it says no, the tool's own word stands.
func NeedsApprovalIf(needs func(context.Context, policy.Call) (bool, error), tools ...Tool) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		out[i] = wrap(t, func(ctx context.Context, args json.RawMessage) (Action, error) {
			spec := t.Spec()
			ask, err := needs(ctx, policy.Call{Connector: spec.Connector, Tool: spec.Name, Arguments: args})
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
	if a.verdict == policy.VerdictFree {
		a.verdict, a.why = policy.VerdictAsk, why
	}
	return a.mapActs(func(act policy.Act) policy.Act {
		if act.Verdict == policy.VerdictFree {
			act.Verdict, act.Why = policy.VerdictAsk, why
		}
		return act
	})
}

// wrap returns a tool with another way to prepare its calls.
func wrap(t Tool, prepare func(context.Context, json.RawMessage) (Action, error)) *wrapped {
	return &wrapped{Tool: t, prepare: prepare}
}

type wrapped struct {
	Tool
	prepare func(context.Context, json.RawMessage) (Action, error)
	err     error // what is wrong with the wrapping; reported by NewSet
}

func (w *wrapped) Prepare(ctx context.Context, args json.RawMessage) (Action, error) {
	return w.prepare(ctx, args)
}

// Turn implements [TurnTool] for a tool that is one.
func (w *wrapped) Turn(ctx context.Context) context.Context {
	if t, ok := w.Tool.(TurnTool); ok {
		return t.Turn(ctx)
	}
	return ctx
}

func (w *wrapped) check() error {
	if w.Tool == nil {
		return errNilTool
	}
	if w.err != nil {
		return fmt.Errorf("%s: %w", w.Spec().FullName(), w.err)
	}
	if c, ok := w.Tool.(checker); ok {
		return c.check()
	}
	return nil
}
