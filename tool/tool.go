package tool

import (
	"context"
	"encoding/json"
	"fmt"

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
		text, err := canonical.CanonicalArguments(s.Schema)
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
