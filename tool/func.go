package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// Func returns a tool that calls a Go function with a struct of arguments. The
// schema comes from the struct: its JSON names, with fields that are not
// omitempty or omitzero required, and `jsonschema:"…"` tags as descriptions.
//
// The tool runs without asking: it is the program's own code. Put
// [RequireApproval] or [NeedsApproval] around it, or config by name, to ask.
func Func[In, Out any](name, description string, f func(context.Context, In) (Out, error)) Tool {
	t := &funcTool[In, Out]{f: f, spec: Spec{Name: name, Description: description}}
	schema, err := jsonschema.For[In](nil)
	if err == nil && schema.Type != "object" {
		err = fmt.Errorf("the arguments must be a struct or a map, not %s", schema.Type)
	}
	if err == nil {
		t.spec.Schema, err = json.Marshal(schema)
	}
	if err != nil {
		t.err = fmt.Errorf("tool %s: schema of the arguments: %w", name, err)
	}
	return t
}

type funcTool[In, Out any] struct {
	spec Spec
	f    func(context.Context, In) (Out, error)
	err  error // why there is no schema; reported by NewSet
}

func (t *funcTool[In, Out]) check() error { return t.err }

func (t *funcTool[In, Out]) Spec() Spec { return t.spec }

func (t *funcTool[In, Out]) Prepare(_ context.Context, args json.RawMessage) (Action, error) {
	if t.err != nil {
		return Action{}, t.err
	}
	in, err := decodeInto[In](t.spec.FullName(), args)
	if err != nil {
		return Action{}, err
	}
	return Free(func(ctx context.Context) (any, error) { return t.f(ctx, in) }), nil
}

// decodeInto reads arguments into a Go value. Unknown names are refused even
// where the schema is silent: Go would match them without case.
func decodeInto[In any](tool string, args json.RawMessage) (In, error) {
	var in In
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, &ArgumentError{Tool: tool, Err: err}
	}
	return in, nil
}
