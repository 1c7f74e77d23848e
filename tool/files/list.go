package files

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed list.md
var listWords string

type listArgs struct {
	Path    string `json:"path,omitempty" jsonschema:"the folder, as ROOT or ROOT/NAME; / or nothing gives the roots"`
	Pattern string `json:"pattern,omitempty" jsonschema:"a glob for names below the folder, such as *.md or **/*.go; default **"`
}

type listResult struct {
	Roots     []rootResult `json:"roots,omitempty"`
	Files     []string     `json:"files"`
	Truncated bool         `json:"truncated"`
	LeftOut   int          `json:"left_out"`             // files that may not be read, and secrets
	NotInside []string     `json:"not_inside,omitempty"` // folders that were not looked into
}

type rootResult struct {
	Name string   `json:"name"`
	Mode string   `json:"mode"`
	Also []string `json:"also,omitempty"` // further names of the same folder
}

func (t *toolset) list(ctx context.Context, in listArgs) (tool.Action, error) {
	if err := checkGlob(in.Pattern); err != nil {
		return tool.Action{}, err
	}
	sc, err := t.scope(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	if sc.needs.blocked() {
		return sc.needs.refused()
	}
	if err := sc.missing(ctx, false); err != nil {
		return doomed(sc.folders[0], err)
	}
	run := func(ctx context.Context) (listResult, error) {
		if sc.all && in.Pattern == "" {
			return t.listRoots(sc), nil
		}
		return t.listFiles(ctx, sc, in.Pattern)
	}
	a := sc.needs.on(tool.Free(func(ctx context.Context) (any, error) { return run(ctx) })).Titled("List " + sc.name)
	if !sc.needs.ask() {
		return a, nil
	}
	// Somebody is asked: the model is told what they were shown, or they are asked again.
	result, err := run(ctx)
	if err != nil {
		return tool.Action{}, err
	}
	return a.ShowingView(result.view()).Seeing(result.digest()), nil
}

// digest tells one listing from another.
func (r listResult) digest() policy.Digest {
	data, _ := json.Marshal(r) // plain values, which always can be written
	return policy.DigestOf(data)
}

// maxBraces is how many {} a pattern may have: each is tried in all its ways.
const maxBraces = 3

// checkGlob refuses patterns that reach out of the folder or match nothing.
func checkGlob(pattern string) error {
	switch {
	case path.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), ".."):
		return &roots.Refusal{Why: fmt.Sprintf("the pattern %q leads out of the folder: "+
			"write it as names below the folder look", pattern)}
	case len(pattern) > maxPattern || strings.Count(pattern, "{") > maxBraces:
		return fmt.Errorf("the pattern is too long or has more than %d {}: match less at once", maxBraces)
	case pattern != "" && !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("the pattern %q is malformed: ** is any folders, * any characters, [abc] one of these, {a,b} either", pattern)
	}
	return nil
}

func (t *toolset) listRoots(sc scope) listResult {
	result := listResult{Files: []string{}}
	modes := map[string]roots.Mode{}
	for _, r := range t.roots.Roots() {
		modes[r.Name] = r.Mode
	}
	for _, p := range sc.folders {
		mode := modes[p.Name()]
		if mode == "" {
			mode = roots.ModeReadOnly
		}
		result.Roots = append(result.Roots, rootResult{Name: p.Name(), Mode: string(mode), Also: p.Names()[1:]})
	}
	return result
}

func (t *toolset) listFiles(ctx context.Context, sc scope, pattern string) (listResult, error) {
	if pattern == "" {
		pattern = "**"
	}
	result := listResult{Files: []string{}}
	w := walk{toolset: t}
	err := w.each(ctx, sc, func(p roots.Place, names []string) error {
		i := slices.IndexFunc(names, func(name string) bool { return doublestar.MatchUnvalidated(pattern, name) })
		switch {
		case i < 0:
			return nil
		case len(result.Files) == t.opts.Limits.Listed:
			return errEnough
		case sc.all:
			result.Files = append(result.Files, names[i])
		default:
			result.Files = append(result.Files, p.Name())
		}
		return nil
	})
	slices.Sort(result.Files) // as they were found, what the turn adds comes last
	result.Truncated, result.LeftOut, result.NotInside = w.cut, w.leftOut, w.skipped
	return result, err
}

// view shows a person what the agent would see.
func (r listResult) view() present.View {
	var lines []string
	for _, root := range r.Roots {
		line := fmt.Sprintf("%s (%s)", root.Name, root.Mode)
		if len(root.Also) > 0 {
			line += ", also called " + strings.Join(root.Also, ", ")
		}
		lines = append(lines, line)
	}
	lines = append(lines, r.Files...)
	if r.LeftOut > 0 {
		lines = append(lines, fmt.Sprintf("(%s left out: secrets, and what may not be read)", plural(r.LeftOut, "file")))
	}
	for _, name := range r.NotInside {
		lines = append(lines, fmt.Sprintf("(%s/ is not looked into)", name))
	}
	return present.View{Kind: present.KindText, Content: strings.Join(lines, "\n")}
}
