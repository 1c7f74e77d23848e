package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
)

// A Tool is something that an agent can call.
type Tool interface {
	// Spec says what the tool is called and what it takes. It is asked again
	// for every call, so that a definition that changes is noticed.
	Spec() Spec
	// Prepare says what a call would do. It has no side effects: no file, no
	// folder, no connection that changes anything. The arguments are canonical
	// JSON and fit the schema. An error means that the call makes no sense; it
	// goes to the model, and nobody is asked.
	Prepare(ctx context.Context, args json.RawMessage) (Action, error)
}

// A TurnTool prepares the calls of one turn on top of each other. Turn returns
// the context in which they are prepared; tools that share it return the context
// unchanged if it is theirs already. Calls run in a context without it.
type TurnTool interface {
	Tool
	Turn(ctx context.Context) context.Context
}

// A Spec is a tool's definition: what the model is shown.
type Spec struct {
	// Connector is where a foreign tool comes from; empty for built-in tools.
	Connector string `json:"connector,omitempty"`
	Name      string `json:"name"`
	// Description is for the model. Nobody else trusts it.
	Description string `json:"description,omitempty"`
	// Schema is the JSON schema of the arguments, an object. Empty means that
	// anything goes.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// FullName returns the name, behind that of the connector if there is one.
func (s Spec) FullName() string {
	return policy.Call{Connector: s.Connector, Tool: s.Name}.Name()
}

// Definition returns the digest that pins the definition.
func (s Spec) Definition() (policy.Digest, error) {
	if len(s.Schema) > 0 {
		text, err := canonical.Arguments(s.Schema)
		if err != nil {
			return policy.Digest{}, fmt.Errorf("tool %s: schema: %w", s.FullName(), err)
		}
		s.Schema = text
	}
	data, err := json.Marshal(s)
	if err != nil {
		return policy.Digest{}, fmt.Errorf("tool %s: %w", s.FullName(), err)
	}
	return policy.DigestOf(data), nil
}

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
