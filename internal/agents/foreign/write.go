package foreign

import (
	"context"

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
