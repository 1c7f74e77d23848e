package files

import (
	"context"
	_ "embed"
	"io/fs"
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

func (t *toolset) info(ctx context.Context, in infoArgs) (tool.Action, error) {
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	e, overlaid, err := overlayOf(ctx).at(p)
	need := needs{{place: p, access: roots.AccessRead, folder: e.folder || !overlaid && p.Info != nil && p.Info.IsDir()}}
	if need.blocked() {
		return need.refused()
	}
	var result infoResult
	switch {
	case err != nil:
		return doomed(p, err)
	case overlaid && e.exists():
		result = e.info()
	case overlaid, p.Info == nil:
		return doomed(p, errMissing)
	default:
		result = diskInfo(p.Info)
	}
	result.Path = p.Name()
	if resolved := p.Resolved(); resolved != p.Name() {
		result.LeadsTo = resolved
	}
	do := func(context.Context) (any, error) { return result, nil }
	view := present.View{Kind: present.Text, Content: "The agent is told what kind of file this is, its size and when it was changed."}
	return need.on(tool.Free(do)).Titled("Look at " + label(p)).ShowingView(view), nil
}

// info tells about what an earlier call of the turn would leave.
func (e overlaid) info() infoResult {
	if e.folder {
		return infoResult{Kind: "folder"}
	}
	return infoResult{Kind: "file", Size: int64(len(e.state.data))}
}

func diskInfo(info fs.FileInfo) infoResult {
	r := infoResult{Kind: kind(info), Modified: info.ModTime().UTC()}
	if info.Mode().IsRegular() {
		r.Size = info.Size()
	}
	return r
}

// kind says in a word what lies at a place.
func kind(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "folder"
	case info.Mode().IsRegular():
		return "file"
	}
	return "special"
}
