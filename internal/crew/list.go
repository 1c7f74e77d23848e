package crew

import (
	"context"
	"encoding/json"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

const listWorkers = "list_workers"

// listed is a worker as others are told of it.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

func (m *Member) listTool() tool.Tool {
	return tool.Func(listWorkers, "Lists the workers that you may call, and what each is for.", func(context.Context, struct{}) ([]listed, error) {
		out := []listed{}
		for _, name := range config.ListWorkers(m.crew.Folders...) {
			if !m.Worker.MayCall(name) {
				continue
			}
			path, err := config.FindNamed(name, m.crew.Folders...)
			if err != nil {
				continue // two files of one name: neither can be called
			}
			if f, err := config.Read(path, config.WorkerFile); err == nil && f.Worker.Name == name {
				out = append(out, listed{name, f.Worker.Description, f.Worker.InputSchema})
			}
		}
		return out, nil
	})
}

// A memberTool is a tool with its arguments in a struct.
type memberTool[In any] struct {
	spec    tool.Spec
	prepare func(context.Context, In) (tool.Action, error)
}

func newTool[In any](name, words string, prepare func(context.Context, In) (tool.Action, error)) tool.Tool {
	// The function is never called: it lends its schema.
	lent := tool.Func(name, words, func(context.Context, In) (any, error) { return nil, nil })
	return &memberTool[In]{spec: lent.Spec(), prepare: prepare}
}

// Spec implements [tool.Tool].
func (t *memberTool[In]) Spec() tool.Spec { return t.spec }

// Prepare implements [tool.Tool].
func (t *memberTool[In]) Prepare(ctx context.Context, args json.RawMessage) (tool.Action, error) {
	var in In
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Action{}, &tool.ArgumentError{Tool: t.spec.Name, Err: err}
	}
	return t.prepare(ctx, in)
}

// jsonView shows a value as structured data.
func jsonView(v any) (present.View, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return present.View{Kind: present.Structured, Content: string(data), Language: "json"}, err
}
