package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Func returns a tool that calls a Go function with a struct of arguments. The
// schema comes from the struct: its JSON names, with fields that are not
// omitempty or omitzero required, and `jsonschema:"…"` tags as descriptions.
//
// The tool runs without asking: it is the program's own code. Put
// [RequireApproval] or [NeedsApproval] around it, or config by name, to ask.
func Func[In, Out any](name, description string, f func(context.Context, In) (Out, error)) Tool {
	if f == nil {
		return FuncAction[In](name, description, nil)
	}
	return FuncAction(name, description, func(_ context.Context, in In) (Action, error) {
		return Free(func(ctx context.Context) (any, error) { return f(ctx, in) }), nil
	})
}

// FuncAction is [Func] with a function that does nothing yet: it says what a
// call would do, as [Tool.Prepare] does.
func FuncAction[In any](name, description string, prepare func(context.Context, In) (Action, error)) Tool {
	t := &funcTool[In]{prepare: prepare, spec: Spec{Name: name, Description: description}}
	if t.spec.Schema, t.err = argumentSchema[In](); t.err == nil && prepare == nil {
		t.err = errors.New("the function is nil")
	}
	if t.err != nil {
		t.err = fmt.Errorf("%s: %w", name, t.err)
	}
	return t
}

// argumentSchema returns the schema of a Go type that can hold arguments.
func argumentSchema[In any]() (json.RawMessage, error) {
	schema, err := schemaOf[In]()
	if err != nil {
		return nil, err
	}
	if schema.Type != "object" {
		return nil, fmt.Errorf("the arguments must be a struct or a map, not %v", reflect.TypeFor[In]())
	}
	return json.Marshal(schema)
}

type funcTool[In any] struct {
	spec    Spec
	prepare func(context.Context, In) (Action, error)
	err     error // what is wrong with the tool; reported by NewSet
}

func (t *funcTool[In]) check() error { return t.err }

func (t *funcTool[In]) Spec() Spec { return t.spec }

func (t *funcTool[In]) Prepare(ctx context.Context, args json.RawMessage) (Action, error) {
	if t.err != nil {
		return Action{}, t.err
	}
	in, err := decodeInto[In](t.spec.FullName(), args, true)
	if err != nil {
		return Action{}, err
	}
	return t.prepare(ctx, in)
}
