package files

import (
	"context"
	_ "embed"
	"time"

	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed info.md
var infoWords string

type infoArgs struct {
	Path string `json:"path" jsonschema:"the file or folder, as ROOT/NAME"`
}

type infoResult struct {
	Path     string    `json:"path"`
	LeadsTo  string    `json:"leads_to,omitempty"` // what a link resolves to
	Kind     string    `json:"kind"`               // file, folder or special
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
}

func (t *toolset) info(_ context.Context, in infoArgs) (tool.Action, error) {
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	act := p.Act(roots.Read)
	if p.Info != nil && p.Info.IsDir() {
		act = p.FolderAct(roots.Read)
	}
	if blocked(act) {
		return refused(act)
	}
	if p.Info == nil {
		return doomed(p, errMissing)
	}
	result := infoResult{Path: p.Name(), Kind: kind(p.Info), Modified: p.Info.ModTime().UTC()}
	if p.Info.Mode().IsRegular() {
		result.Size = p.Info.Size()
	}
	if resolved := p.Resolved(); resolved != p.Name() {
		result.LeadsTo = resolved
	}
	do := func(context.Context) (any, error) { return result, nil }
	view := present.View{Kind: present.Text, Content: "The agent is told what kind of file this is, its size and when it was changed."}
	return tool.Free(do).On(act).Titled("Look at " + label(p)).ShowingView(view), nil
}
