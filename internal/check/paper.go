package check

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// paperAccess are the file tools whose examples are about files that need not exist.
var paperAccess = map[string]roots.Access{
	policy.ActReadFile: roots.AccessRead, policy.ActWriteFile: roots.AccessWrite, policy.ActDeleteFile: roots.AccessDelete,
}

// A paperTool judges access to a path as a file tool does, and looks at no file.
type paperTool struct {
	name  string
	roots *roots.Set
}

func (t paperTool) Spec() tool.Spec { return tool.Spec{Name: t.name} }

func (t paperTool) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	var in struct{ Path string }
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Action{}, err
	}
	place, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	never := func(context.Context) (any, error) { return nil, errors.New("this is an example") }
	return tool.Free(never).On(place.Act(paperAccess[t.name])), nil
}

// onPaper returns the tools with those that look at files replaced.
func onPaper(box *toolbox.Box) ([]tool.Tool, error) {
	var out, paper []tool.Tool
	for _, t := range box.Tools {
		if name := t.Spec().Name; paperAccess[name] != "" {
			paper = append(paper, paperTool{name, box.Roots})
		} else {
			out = append(out, t)
		}
	}
	configured, _, err := tool.Configure(box.Policy.Tools, paper...)
	return append(out, configured...), err
}
