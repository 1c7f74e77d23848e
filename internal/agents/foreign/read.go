package foreign

import (
	"context"
	"io/fs"
	"path/filepath"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

type pathArgs struct {
	Path string `json:"path"`
}

func (f judge) read(_ context.Context, in pathArgs) (tool.Action, error) {
	p, err := f.at(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	view := func(context.Context) (present.View, error) {
		found, err := f.look(in.Path)
		if err != nil {
			return problem(err), nil
		}
		return content(found), nil
	}
	return tool.Ask(elsewhere).On(p.Act(roots.AccessRead)).Titled("Read " + label(p)).Showing(view), nil
}

// list is for tools that show the names in a folder.
func (f judge) list(_ context.Context, in pathArgs) (tool.Action, error) {
	p, err := f.at(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	return tool.Ask(elsewhere).On(p.FolderAct(roots.AccessRead)).Titled("List " + label(p)).ShowingView(naming(p)), nil
}

// search is for tools that read all files in a folder. Those that are not free to read
// are acts of their own: the agent leaves none of them out.
func (f judge) search(ctx context.Context, in pathArgs) (tool.Action, error) {
	p, err := f.at(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	if p.Info != nil && p.Info.Mode().IsRegular() {
		return f.read(ctx, in)
	}
	acts := append([]policy.Act{p.FolderAct(roots.AccessRead)}, f.held(ctx, p)...)
	return tool.Ask(elsewhere).On(acts...).Titled("Search " + label(p)).ShowingView(naming(p)), nil
}

// Limits on a look for files that are not free to read.
const (
	maxLooked = 20_000
	maxHeld   = 50
)

// held returns reads of the files below a folder that ask or are denied. If there is too
// much to look at, what is left is one read that asks.
func (f judge) held(ctx context.Context, folder roots.Place) []policy.Act {
	var out []policy.Act
	looked := 0
	rest := func(why string) {
		out = append(out, policy.Act{
			Name: policy.ActReadFile, Target: policy.UnknownTarget(policy.KindPath), Verdict: policy.VerdictAsk,
			ByName: true, Why: why,
		})
	}
	err := filepath.WalkDir(folder.Key(), func(path string, d fs.DirEntry, err error) error {
		switch looked++; {
		case err != nil:
			return nil // what we cannot read the agent cannot either
		case looked > maxLooked || len(out) >= maxHeld:
			rest("there are too many files to look at each")
			return filepath.SkipAll
		case d.IsDir() && path != folder.Key() && (d.Name() == ".git" || d.Name() == "node_modules"): // unless it was named
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		p, err := f.at(path)
		if err != nil {
			rest("a file below it has no name that can be judged")
			return nil
		}
		if act := p.Act(roots.AccessRead); act.Verdict != policy.VerdictFree || f.denied(ctx, p) {
			out = append(out, act)
		}
		return nil
	})
	if err != nil {
		rest("the folder cannot be looked at")
	}
	return out
}

type urlArgs struct {
	Method string `json:"method"`
	URL    string `json:"url"`
}

// fetch is a request, and the connection that it takes. The connection never asks by
// itself, as the request does, but a deny about it holds.
func (f judge) fetch(_ context.Context, in urlArgs) (tool.Action, error) {
	target, err := policy.URLTarget(in.Method, in.URL)
	if err != nil {
		return tool.Action{}, err
	}
	u := target.URL
	connect := f.opts.Hosts.Connect(u.Host, u.Port, u.Scheme == "https")
	request := policy.Act{Name: policy.ActHTTPRequest, Target: target, Known: true, Verdict: connect.Verdict,
		Why: connect.Why}
	connect.Cause, connect.ByName = 1, false
	if connect.Verdict != policy.VerdictBlock {
		connect.Verdict, connect.Why = policy.VerdictFree, "follows from the request"
	}
	text := in.Method + " " + in.URL
	view := present.View{Kind: present.KindText, Content: text}
	return tool.Ask(elsewhere).On(request, connect).Titled(text).ShowingView(view), nil
}
