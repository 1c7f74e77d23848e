package crew

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// definition writes the file of a new worker. It has nothing that its creator has not:
// folders inside those of the creator, and in them no word that is freer.
func (m *Member) definition(in createArgs) ([]byte, error) {
	keys := yaml.MapSlice{{Key: "name", Value: in.Name}}
	add := func(key string, value any) { keys = append(keys, yaml.MapItem{Key: key, Value: value}) }
	if in.Description != "" {
		add("description", in.Description)
	}
	if in.Model != "" {
		add("model", in.Model)
	}
	if in.MaxSteps > 0 {
		add("max_steps", in.MaxSteps)
	}
	paths, err := m.definedPaths(in.Paths)
	if err != nil {
		return nil, err
	}
	if len(paths) > 0 {
		add("sandbox", yaml.MapSlice{{Key: "paths", Value: paths}})
	}
	if in.Shell {
		if !m.Box.Policy.HasShell {
			return nil, fmt.Errorf("%s has no shell, so it cannot give one to a worker", m.Worker.Name)
		}
		add("shell", yaml.MapSlice{{Key: "default", Value: yaml.MapSlice{{Key: "approval", Value: "ask"}}}})
	}
	for _, name := range in.AllowWorkers {
		if !m.Worker.MayCall(name) {
			return nil, fmt.Errorf("%s may not call %q, so it cannot let a worker call it", m.Worker.Name, name)
		}
	}
	if len(in.AllowWorkers) > 0 {
		add("allow_workers", in.AllowWorkers)
	}
	front, err := yaml.Marshal(keys)
	if err != nil {
		return nil, err
	}
	file := in.Name + ".worker"
	data := config.JoinWorker(file, front, strings.TrimSpace(in.Instructions))
	if _, err := config.LoadWorker(file, data, m.crew.projectFolder()); err != nil {
		return nil, fmt.Errorf("invalid worker definition: %w", err)
	}
	return data, nil
}

// definedPaths are the folders of a new worker, relative to its file.
func (m *Member) definedPaths(list []createPath) (yaml.MapSlice, error) {
	var out yaml.MapSlice
	for _, p := range list {
		place, err := m.Box.Roots.Resolve(p.Path)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", p.Path, err)
		}
		if place.Info == nil {
			return nil, fmt.Errorf("path %q: there is no such folder", p.Path)
		}
		mode := p.Mode
		if mode == "" {
			mode = string(roots.ModeReadOnly)
		}
		words := yaml.MapSlice{{Key: "read", Value: ceiling(place, roots.AccessRead)}}
		if mode == string(roots.ModeReadWrite) {
			if place.FolderAct(roots.AccessWrite).Verdict == policy.VerdictBlock {
				return nil, fmt.Errorf("path %q: %s may not write there, so it cannot let a worker", p.Path, m.Worker.Name)
			}
			words = append(words, yaml.MapItem{Key: "write", Value: "ask"},
				yaml.MapItem{Key: "delete", Value: ceilingAsk(place, roots.AccessDelete)})
		}
		root, err := m.relative(place)
		if err != nil {
			return nil, err
		}
		out = append(out, yaml.MapItem{Key: p.Name, Value: yaml.MapSlice{
			{Key: "root", Value: root}, {Key: "mode", Value: mode}, {Key: "approval", Value: words},
		}})
	}
	return out, nil
}

// relative is a place as the file of a new worker names it.
func (m *Member) relative(p roots.Place) (string, error) {
	folder, err := filepath.EvalSymlinks(filepath.Dir(m.crew.projectFolder()))
	if err != nil {
		return p.Key(), nil
	}
	return filepath.Rel(filepath.Join(folder, filepath.Base(m.crew.projectFolder())), p.Key())
}

// ceiling is the freest word that the creator can give about an access.
func ceiling(p roots.Place, a roots.Access) string {
	switch p.FolderAct(a).Verdict {
	case policy.VerdictFree:
		return "allow"
	case policy.VerdictAsk:
		return "ask"
	}
	return "deny"
}

// ceilingAsk is ceiling, and never free.
func ceilingAsk(p roots.Place, a roots.Access) string {
	if word := ceiling(p, a); word != "allow" {
		return word
	}
	return "ask"
}

const listWorkers = "list_workers"

// listed is a worker as others are told of it.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

func (m *Member) listTool() tool.Tool {
	return tool.Func(listWorkers, "Lists the workers that you may call, and what each is for.",
		func(context.Context, struct{}) ([]listed, error) {
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
	return present.View{Kind: present.KindStructured, Content: string(data), Language: "json"}, err
}

// CheckInput reports why a worker does not take an input.
func CheckInput(w *config.Worker, input json.RawMessage) error {
	if err := fits(w.InputSchema, input); err != nil {
		return fmt.Errorf("the input does not fit the input_schema of %s: %w", w.Name, err)
	}
	return nil
}

// An OutputError says that a worker did not answer as it promised.
type OutputError struct {
	Worker string
	Err    error
}

func (e *OutputError) Error() string {
	return fmt.Sprintf("the answer of %s does not fit its output_schema: %v", e.Worker, e.Err)
}

func (e *OutputError) Unwrap() error { return e.Err }

// CheckOutput reports why what a worker said is not what it promised.
func CheckOutput(w *config.Worker, text string) error {
	if len(w.OutputSchema) == 0 {
		return nil
	}
	if err := fits(w.OutputSchema, json.RawMessage(text)); err != nil {
		return &OutputError{Worker: w.Name, Err: err}
	}
	return nil
}

func fits(schema, data json.RawMessage) error {
	if len(schema) == 0 {
		return nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return fmt.Errorf("invalid JSON: %w", err)
	}
	return resolved.Validate(value)
}

// InputText is an input as the model reads it: a text as it is, anything else as JSON.
func InputText(input json.RawMessage) string {
	var text string
	if json.Unmarshal(input, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return string(input)
	}
	return b.String()
}
