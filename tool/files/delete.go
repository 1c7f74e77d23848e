package files

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed delete.md
var deleteWords string

type deleteArgs struct {
	Path string `json:"path" jsonschema:"the file, as ROOT/NAME"`
}

func (t *toolset) delete(ctx context.Context, in deleteArgs) (tool.Action, error) {
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	if p.Info != nil && p.Info.IsDir() {
		if act := p.FolderAct(roots.Delete); blocked(act) {
			return refused(act)
		}
		return doomed(p, errIsFolder)
	}
	act := p.Act(roots.Delete)
	if blocked(act) {
		return refused(act)
	}
	was, err := t.existing(ctx, p)
	if err != nil {
		return doomed(p, err)
	}
	overlayOf(ctx).set(p.Key(), state{})
	summary := fmt.Sprintf("Delete %s (%s)", label(p), measure(was))
	do := func(ctx context.Context) (any, error) {
		note, err := t.keeping(ctx, "delete_file", []Change{changeOf(p, was, state{})}, func() error {
			d, name, err := openParent(p)
			if err != nil {
				return notAsShown(err)
			}
			defer d.close()
			return d.drop(name, was)
		})
		if err != nil {
			return nil, told(p.Name(), err)
		}
		return "Done: " + summary + "." + note, nil
	}
	return tool.Free(do).On(act).Seeing(was.digest()).Titled(summary).
		Showing(func(context.Context) (present.View, error) { return showFile(p, was), nil }), nil
}
