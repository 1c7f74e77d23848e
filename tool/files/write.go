package files

import (
	"context"
	_ "embed"
	"path"

	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed write.md
var writeWords string

type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file, as ROOT/NAME"`
	Content string `json:"content" jsonschema:"the whole new content"`
}

func (t *toolset) write(ctx context.Context, in writeArgs) (tool.Action, error) {
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	need := needs{{place: p, access: roots.AccessWrite}}
	if need.blocked() {
		return need.refused()
	}
	next := fileOf([]byte(in.Content))
	if err := t.fits(p, int64(len(next.data))); err != nil {
		return tool.Action{}, err
	}
	was, err := t.look(ctx, p)
	if err == nil {
		err = currentUser().mayReplace(was.meta)
	}
	if err != nil {
		return doomed(p, err)
	}
	overlayOf(ctx).set(p, next)
	how := showChange(p, was, next)
	do := func(ctx context.Context) (any, error) { return t.replace(ctx, "write_file", p, was, next, how.summary) }
	return need.on(tool.Free(do)).Seeing(was.digest()).Titled(how.summary).ShowingView(how.view).
		Editing("content", path.Ext(in.Path)), nil
}

// replace makes next lie at a place if it is still was there, keeps what was,
// and tells the model what was done.
func (t *toolset) replace(ctx context.Context, name string, p roots.Place, was, next state, summary string) (any, error) {
	note, err := t.keeping(ctx, name, []Change{changeOf(p, was, next)}, func() error {
		return t.ops.put(ctx, p, was, next)
	})
	if err != nil {
		return nil, told(p.Name(), err)
	}
	return "Done: " + summary + "." + note, nil
}
