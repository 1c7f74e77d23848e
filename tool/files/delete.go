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
		if folder := (needs{{place: p, access: roots.AccessDelete, folder: true}}); folder.blocked() {
			return folder.refused()
		}
		return doomed(p, errIsFolder)
	}
	need := needs{{place: p, access: roots.AccessDelete}}
	if need.blocked() {
		return need.refused()
	}
	was, err := t.existing(ctx, p)
	if err != nil {
		return doomed(p, err)
	}
	overlayOf(ctx).set(p, state{})
	summary := fmt.Sprintf("Delete %s (%s)", label(p), measure(was)) + was.meta.remark()
	do := func(ctx context.Context) (any, error) {
		note, err := t.keeping(ctx, "delete_file", []Change{changeOf(p, was, state{})}, func() error {
			return t.ops.drop(ctx, p, was)
		})
		if err != nil {
			return nil, told(p.Name(), err)
		}
		return "Done: " + summary + "." + note, nil
	}
	return need.on(tool.Free(do)).Seeing(was.digest()).Titled(summary).
		Showing(func(context.Context) (present.View, error) { return showFile(p, was), nil }), nil
}
