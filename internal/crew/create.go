package crew

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

//go:embed create.md
var createWords string

type createArgs struct {
	Name         string       `json:"name" jsonschema:"letters, digits, - and _"`
	Description  string       `json:"description" jsonschema:"what it is for, in a line"`
	Instructions string       `json:"instructions" jsonschema:"what its model is told"`
	Model        string       `json:"model,omitempty" jsonschema:"such as anthropic:NAME or openai:NAME; default that of the user"`
	Paths        []createPath `json:"paths,omitempty" jsonschema:"the folders that it may reach; none by default"`
	Shell        bool         `json:"shell,omitempty" jsonschema:"whether it may run commands, each of which is asked"`
	AllowWorkers []string     `json:"allow_workers,omitempty" jsonschema:"the workers that it may call"`
	MaxSteps     int          `json:"max_steps,omitempty" jsonschema:"how many turns it has at most"`
	Replace      bool         `json:"replace,omitempty" jsonschema:"replace the worker of this name"`
}

type createPath struct {
	Name string `json:"name" jsonschema:"what it calls the folder"`
	Path string `json:"path" jsonschema:"one of your folders, as ROOT or ROOT/NAME"`
	Mode string `json:"mode,omitempty" jsonschema:"ro (default) or rw"`
}

func (m *Member) createTool() tool.Tool {
	return tool.FuncAction(policy.ActWorkerCreate, createWords, m.prepareCreate)
}

func (m *Member) prepareCreate(_ context.Context, in createArgs) (tool.Action, error) {
	if !config.ValidWorkerName(in.Name) {
		return tool.Action{}, fmt.Errorf("invalid worker name %q: use letters, digits, - and _", in.Name)
	}
	old, err := m.existing(in)
	if err != nil {
		return tool.Action{}, err
	}
	if old.locked {
		return tool.Block(fmt.Sprintf("worker %s is locked", in.Name)), nil
	}
	data, err := m.definition(in)
	if err != nil {
		return tool.Action{}, err
	}
	act := policy.Act{
		Name: policy.ActWorkerCreate, Known: true, Verdict: policy.VerdictAsk, Why: "creating a worker asks",
		Target: policy.TextTarget(in.Name).SharedWith(policy.DigestOf(data).String()),
	}
	do := func(context.Context) (any, error) { return m.create(in, old, data) }
	return tool.Ask(do).On(act).Seeing(policy.DigestOf(old.data)).NeverAlways().Titled(old.summary(in.Name)).
		Showing(func(context.Context) (present.View, error) { return old.view(in.Name, data), nil }), nil
}

// older is the worker that has the name of a new one, if there is one.
type older struct {
	path   string // of the new one
	there  bool   // a file is replaced
	hides  string // the file elsewhere that is no longer found
	locked bool
	data   []byte
}

// existing finds the worker that a new one would replace or hide.
func (m *Member) existing(in createArgs) (older, error) {
	o := older{path: filepath.Join(m.crew.projectFolder(), in.Name+".worker")}
	found, err := config.FindNamed(in.Name, m.crew.Folders...)
	if err != nil {
		if _, statErr := os.Lstat(o.path); errors.Is(statErr, fs.ErrNotExist) {
			return o, nil
		}
		return o, fmt.Errorf("worker %s cannot be replaced: %w", in.Name, err)
	}
	if !in.Replace {
		return o, fmt.Errorf("worker %s exists already; choose another name, or set replace", in.Name)
	}
	f, err := config.Read(found, config.WorkerFile)
	if err != nil {
		return o, fmt.Errorf("worker %s cannot be replaced: reading whether it is locked failed: %w", in.Name, err)
	}
	o.locked, o.data = f.Worker.Locked, f.Data
	switch {
	case found == o.path:
		o.there = true
	case filepath.Dir(found) == filepath.Dir(o.path):
		return o, fmt.Errorf("worker %s is in %s, which only a person can replace", in.Name, filepath.Base(found))
	default:
		o.hides = found
	}
	return o, nil
}

func (o older) summary(name string) string {
	switch {
	case o.there:
		return fmt.Sprintf("Replace worker %s", name)
	case o.hides != "":
		return fmt.Sprintf("Create worker %s, which hides your own worker of that name", name)
	}
	return fmt.Sprintf("Create worker %s", name)
}

// view shows the whole definition, or what changes in it.
func (o older) view(name string, data []byte) present.View {
	file := name + ".worker"
	if o.there {
		return present.DiffView(present.Side{Name: file, Text: string(o.data)},
			present.Side{Name: file, Text: string(data)})
	}
	return present.View{Kind: present.KindFile, Content: string(data), Language: "yaml",
		Facts: present.Facts{present.NumberFact(present.FactSize, int64(len(data)))}}
}

// create writes the file that was shown.
func (m *Member) create(in createArgs, old older, data []byte) (any, error) {
	if err := os.MkdirAll(filepath.Dir(old.path), 0o700); err != nil {
		return nil, err
	}
	t, err := os.CreateTemp(filepath.Dir(old.path), ".worker-*") // 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(t.Name()) // gone already if it was renamed
	_, err = t.Write(data)
	if err == nil {
		err = t.Sync()
	}
	if err = errors.Join(err, t.Close()); err != nil {
		return nil, err
	}
	if err := old.put(t.Name()); err != nil {
		return nil, err
	}
	m.crew.agree(old.path, data)
	return fmt.Sprintf("worker %s is saved and can be called", in.Name), nil
}

// put brings the new file to its place, if that is still as it was shown.
func (o older) put(temp string) error {
	if !o.there {
		if err := os.Link(temp, o.path); errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%w: there is a worker of this name now", approval.ErrChanged)
		} else if err != nil {
			return err
		}
		return nil
	}
	now, err := os.ReadFile(o.path)
	if err != nil || string(now) != string(o.data) {
		return fmt.Errorf("%w: the worker was changed meanwhile", approval.ErrChanged)
	}
	return os.Rename(temp, o.path)
}
