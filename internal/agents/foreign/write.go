package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (f judge) write(_ context.Context, in writeArgs) (tool.Action, error) {
	was, err := f.look(in.Path)
	if was.place.Name() == "" {
		return tool.Action{}, err
	}
	f.changing(becomes(was.place, []byte(in.Content), nil))
	act := was.place.Act(roots.AccessWrite)
	if err != nil {
		return tool.Ask(elsewhere).On(act).Titled("Write " + label(was.place)).ShowingView(problem(err)), nil
	}
	summary, view := change(was, []byte(in.Content))
	return tool.Ask(elsewhere).On(act).Seeing(stateOf(was)).Titled(summary).ShowingView(view).
		Editing("content", suffixOf(in.Path)), nil
}

func (f judge) remove(_ context.Context, in pathArgs) (tool.Action, error) {
	was, err := f.look(in.Path)
	if was.place.Name() == "" {
		return tool.Action{}, err
	}
	f.changing(goes(was.place))
	a := tool.Ask(elsewhere).On(was.place.Act(roots.AccessDelete)).Titled("Delete " + label(was.place))
	if err != nil {
		return a.ShowingView(problem(err)), nil
	}
	return a.Seeing(stateOf(was)).ShowingView(content(was)), nil
}

// changeArgs are those of all tools that change a file in parts: edits, a cell of a
// notebook, or a patch.
type changeArgs struct {
	Path     string    `json:"path"`
	Edits    []edit    `json:"edits"`
	Notebook *notebook `json:"notebook"`
	Patch    string    `json:"patch"`
	Dir      string    `json:"dir"`
}

type edit struct {
	Old string `json:"old_text"`
	New string `json:"new_text"`
	All bool   `json:"all"`
}

func (f judge) change(_ context.Context, in changeArgs) (tool.Action, error) {
	switch {
	case in.Patch != "":
		return f.patch(in.Patch, in.Dir)
	case in.Notebook != nil:
		return f.changed(in.Notebook.Path, in.Notebook.apply)
	}
	return f.changed(in.Path, func(was []byte) ([]byte, error) { return applyEdits(was, in.Edits) })
}

// changed is the action that makes another file of the one at a path: it reads and
// writes. If that cannot work the agent will find out; the person is told.
func (f judge) changed(path string, apply func([]byte) ([]byte, error)) (tool.Action, error) {
	was, err := f.look(path)
	if was.place.Name() == "" {
		return tool.Action{}, err
	}
	a := tool.Ask(elsewhere).On(editActs(was.place)...)
	var next []byte
	if err == nil {
		next, err = apply(was.data)
	}
	f.changing(becomes(was.place, next, err))
	if err != nil {
		return a.Seeing(stateOf(was)).Titled("Edit " + label(was.place)).ShowingView(problem(err)), nil
	}
	summary, view := change(was, next)
	return a.Seeing(stateOf(was)).Titled(summary).ShowingView(view), nil
}

func editActs(p roots.Place) []policy.Act {
	return []policy.Act{p.Act(roots.AccessRead), p.Act(roots.AccessWrite)}
}

// applyEdits makes the edits one after another. An edit of nothing is the content of a
// new file.
func applyEdits(data []byte, edits []edit) ([]byte, error) {
	for i, e := range edits {
		var err error
		if data, err = e.apply(data); err != nil {
			return nil, fmt.Errorf("edit %d of %d: %w", i+1, len(edits), err)
		}
	}
	return data, nil
}

func (e edit) apply(data []byte) ([]byte, error) {
	old := []byte(e.Old)
	switch n := bytes.Count(data, old); {
	case e.Old == "" && len(data) == 0:
		return []byte(e.New), nil
	case e.Old == "":
		return nil, errors.New("the text to replace is empty, and the file is not")
	case n == 0:
		return nil, errors.New("the text to replace does not occur in the file")
	case n > 1 && !e.All:
		return nil, fmt.Errorf("the text to replace occurs %d times in the file", n)
	}
	return bytes.ReplaceAll(data, old, []byte(e.New)), nil
}
