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
	t := &funcTool[In, Out]{f: f, spec: Spec{Name: name, Description: description}}
	if t.spec.Schema, t.err = argumentSchema[In](); t.err == nil && f == nil {
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

type funcTool[In, Out any] struct {
	spec Spec
	f    func(context.Context, In) (Out, error)
	err  error // what is wrong with the tool; reported by NewSet
}

func (t *funcTool[In, Out]) check() error { return t.err }

func (t *funcTool[In, Out]) Spec() Spec { return t.spec }

func (t *funcTool[In, Out]) Prepare(_ context.Context, args json.RawMessage) (Action, error) {
	if t.err != nil {
		return Action{}, t.err
	}
	in, err := decodeInto[In](t.spec.FullName(), args, true)
	if err != nil {
		return Action{}, err
	}
	return Free(func(ctx context.Context) (any, error) { return t.f(ctx, in) }), nil
}
