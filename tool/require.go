package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// Approval says how a call is put to a person, from its arguments. Every field
// may be left out.
type Approval[In any] struct {
	// Describe gives the summary of one line; else it is "Tool call: NAME".
	Describe func(In) string
	// Target gives what the call is about: what is remembered and logged.
	// Calls with the same target are the same act. Without it every argument
	// counts. A tool that names its own acts keeps them.
	Target func(In) string
	// Payload gives the same in named parts, as a struct or a map. Only one of
	// Target and Payload may be set.
	Payload func(In) any
	// View gives what is shown; else it is the arguments.
	View func(In) present.View
}

// RequireApproval returns the tool as one that asks before every call, like a
// decorator. What the tool blocks stays blocked.
//
// In names the arguments that the functions want to see. If a call has others,
// they are not hidden: then all the arguments are shown, and all of them count
// for what is remembered.
func RequireApproval[In any](t Tool, how Approval[In]) Tool {
	schema, err := schemaOf[In]()
	if err == nil && how.Target != nil && how.Payload != nil {
		err = errors.New("RequireApproval takes a Target or a Payload, not both")
	}
	w := wrap(t, func(ctx context.Context, args json.RawMessage) (Action, error) {
		a, err := t.Prepare(ctx, args)
		if err != nil {
			return a, err
		}
		in, err := decodeExactly[In](t.Spec().FullName(), schema, args)
		if err != nil {
			return Action{}, err
		}
		a = asking(a, "the tool requires approval")
		if more, err := unseen(schema, args); err != nil || more > 0 {
			return how.onlySummary(a, in, more), err
		}
		return how.apply(a, in)
	})
	w.err = err
	return w
}

// unseen counts the arguments, at any depth, that In does not know.
func unseen(schema *jsonschema.Schema, args json.RawMessage) (int, error) {
	object, err := decodeObject(args)
	return locator{root: schema}.unseen(schema, object), err
}

// onlySummary describes a call that has arguments which the functions do not
// see. What is shown is then the arguments themselves.
func (how *Approval[In]) onlySummary(a Action, in In, more int) Action {
	a.view = nil
	if how.Describe != nil {
		a = a.Titled(fmt.Sprintf("%s (and %d arguments that this does not mention)", how.Describe(in), more))
	}
	return a
}

// apply puts the action into words.
func (how *Approval[In]) apply(a Action, in In) (Action, error) {
	if how.Describe != nil {
		a = a.Titled(how.Describe(in))
	}
	if how.View != nil {
		a = a.Showing(func(context.Context) (present.View, error) { return how.View(in), nil })
	}
	if len(a.acts) > 0 {
		return a, nil
	}
	if how.Target != nil {
		a = a.OnTarget(policy.TextTarget(how.Target(in)))
	}
	if how.Payload != nil {
		text, err := payloadText(how.Payload(in))
		if err != nil {
			return Action{}, err
		}
		a = a.OnTarget(policy.TextTarget(text))
	}
	return a, nil
}

// payloadText writes a payload so that equal ones are the same text.
func payloadText(payload any) (string, error) {
	data, err := json.Marshal(payload)
	if err == nil {
		data, err = canonical.Arguments(data)
	}
	if err != nil {
		return "", fmt.Errorf("payload: %w", err)
	}
	return string(data), nil
}

// decodeExactly reads the arguments that In knows, by their exact names.
func decodeExactly[In any](tool string, schema *jsonschema.Schema, args json.RawMessage) (In, error) {
	object, err := decodeObject(args)
	field := ""
	if err == nil {
		field, err = locator{root: schema}.misspelt("", schema, object)
	}
	if err != nil {
		var none In
		return none, &ArgumentError{Tool: tool, Field: field, Err: err}
	}
	return decodeInto[In](tool, args, false)
}

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
				return Action{}, fmt.Errorf("unknown whether %s needs approval: %w", spec.FullName(), err)
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

// Under returns the tools as ones whose calls act under the sandbox profile with this
// digest, unless they name another one themselves. An answer to a call is bound to it.
func Under(profile policy.Digest, tools ...Tool) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		out[i] = wrap(t, func(ctx context.Context, args json.RawMessage) (Action, error) {
			a, err := t.Prepare(ctx, args)
			if a.profile.IsZero() {
				a = a.Under(profile)
			}
			return a, err
		})
	}
	return out
}
