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

// jsonView shows a value as structured data.
func jsonView(v any) (present.View, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return present.View{Kind: present.Structured, Content: string(data), Language: "json"}, err
}
