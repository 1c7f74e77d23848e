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
			return nil, failed(p.Name(), err)
		}
		return "Done: " + summary + "." + note, nil
	}
	return need.on(tool.Free(do)).Seeing(was.digest()).Titled(summary).
		Showing(func(context.Context) (present.View, error) { return showFile(p, was), nil }), nil
}

//go:embed makedir.md
var makeDirWords string

type makeDirArgs struct {
	Path string `json:"path" jsonschema:"the folder, as ROOT/NAME"`
}

func (t *toolset) makeDir(ctx context.Context, in makeDirArgs) (tool.Action, error) {
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	need := needs{{place: p, access: roots.AccessWrite, folder: true}}
	if need.blocked() {
		return need.refused()
	}
	if err := t.vacant(ctx, p); err != nil {
		return doomed(p, err)
	}
	overlayOf(ctx).makeFolder(p)
	do := func(ctx context.Context) (any, error) {
		if err := t.ops.makeDir(ctx, p); err != nil {
			return nil, failed(p.Name(), err)
		}
		return "Done: Create folder " + p.Name() + ".", nil
	}
	view := present.View{Kind: present.KindText, Content: p.Name() + "/"}
	return need.on(tool.Free(do)).Seeing(state{}.digest()).Titled("Create folder " + label(p)).ShowingView(view), nil
}
