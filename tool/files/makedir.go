package files

import (
	"context"
	_ "embed"

	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

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
			return nil, told(p.Name(), err)
		}
		return "Done: Create folder " + p.Name() + ".", nil
	}
	view := present.View{Kind: present.Text, Content: p.Name() + "/"}
	return need.on(tool.Free(do)).Seeing(state{}.digest()).Titled("Create folder " + label(p)).ShowingView(view), nil
}
