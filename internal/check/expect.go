package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// expectations tries the examples of the file.
func (l *look) expectations(ctx context.Context, e *explain.Explainer) {
	for _, want := range l.policy.Expect {
		got := e.Explain(ctx, explain.Call{Tool: want.Tool, Args: want.Args})
		if got.Outcome == want.Outcome {
			continue
		}
		l.warn(want.Source, "%s should be %s, and is %s: %s", want.Call, want.Outcome, got.Outcome, reason(got))
	}
}

// reason says in a line why a call came out as it did.
func reason(a explain.Answer) string {
	why := cmp.Or(a.Error, a.Why)
	for _, act := range a.Acts {
		why = cmp.Or(why, act.Why)
	}
	return cmp.Or(why, "nothing that it would do asks")
}

// exampleAccess are the file tools whose examples are about files that need not exist.
var exampleAccess = map[string]roots.Access{
	policy.ActReadFile: roots.AccessRead, policy.ActWriteFile: roots.AccessWrite, policy.ActDeleteFile: roots.AccessDelete,
}

// An exampleTool judges access to a path as a file tool does, and looks at no file.
type exampleTool struct {
	name  string
	roots *roots.Set
}

func (t exampleTool) Spec() tool.Spec { return tool.Spec{Name: t.name} }

func (t exampleTool) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	var in struct{ Path string }
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Action{}, err
	}
	place, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	never := func(context.Context) (any, error) { return nil, errors.New("this is an example") }
	return tool.Free(never).On(place.Act(exampleAccess[t.name])), nil
}

// exampleTools returns the tools with those that look at files replaced.
func exampleTools(box *toolbox.Box) ([]tool.Tool, error) {
	var out, replaced []tool.Tool
	for _, t := range box.Tools {
		if name := t.Spec().Name; exampleAccess[name] != "" {
			replaced = append(replaced, exampleTool{name, box.Roots})
		} else {
			out = append(out, t)
		}
	}
	configured, _, err := tool.Configure(box.Policy.Tools, replaced...)
	return append(out, configured...), err
}
