package crew

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// definition writes the file of a new worker. It has nothing that its creator has not:
// folders inside those of the creator, and in them no word that is freer.
func (m *Member) definition(in createArgs) ([]byte, error) {
	keys := yaml.MapSlice{{Key: "name", Value: in.Name}}
	add := func(key string, value any) { keys = append(keys, yaml.MapItem{Key: key, Value: value}) }
	if in.Description != "" {
		add("description", in.Description)
	}
	if in.Model != "" {
		add("model", in.Model)
	}
	if in.MaxSteps > 0 {
		add("max_steps", in.MaxSteps)
	}
	paths, err := m.definedPaths(in.Paths)
	if err != nil {
		return nil, err
	}
	if len(paths) > 0 {
		add("sandbox", yaml.MapSlice{{Key: "paths", Value: paths}})
	}
	if in.Shell {
		if !m.Box.Policy.HasShell {
			return nil, fmt.Errorf("%s has no shell, so it cannot give one to a worker", m.Worker.Name)
		}
		add("shell", yaml.MapSlice{{Key: "default", Value: yaml.MapSlice{{Key: "approval", Value: "ask"}}}})
	}
	for _, name := range in.AllowWorkers {
		if !m.Worker.MayCall(name) {
			return nil, fmt.Errorf("%s may not call %q, so it cannot let a worker call it", m.Worker.Name, name)
		}
	}
	if len(in.AllowWorkers) > 0 {
		add("allow_workers", in.AllowWorkers)
	}
	front, err := yaml.Marshal(keys)
	if err != nil {
		return nil, err
	}
	file := in.Name + ".worker"
	data := config.JoinWorker(file, front, strings.TrimSpace(in.Instructions))
	if _, err := config.LoadWorker(file, data, m.crew.projectFolder()); err != nil {
		return nil, fmt.Errorf("this makes no worker: %w", err)
	}
	return data, nil
}

// definedPaths are the folders of a new worker, relative to its file.
func (m *Member) definedPaths(list []createPath) (yaml.MapSlice, error) {
	var out yaml.MapSlice
	for _, p := range list {
		place, err := m.Box.Roots.Resolve(p.Path)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", p.Path, err)
		}
		if place.Info == nil {
			return nil, fmt.Errorf("path %q: there is no such folder", p.Path)
		}
		mode := p.Mode
		if mode == "" {
			mode = string(roots.ModeReadOnly)
		}
		words := yaml.MapSlice{{Key: "read", Value: ceiling(place, roots.AccessRead)}}
		if mode == string(roots.ModeReadWrite) {
			if place.FolderAct(roots.AccessWrite).Verdict == policy.VerdictBlock {
				return nil, fmt.Errorf("path %q: %s may not write there, so it cannot let a worker", p.Path, m.Worker.Name)
			}
			words = append(words, yaml.MapItem{Key: "write", Value: "ask"}, yaml.MapItem{Key: "delete", Value: ceilingAsk(place, roots.AccessDelete)})
		}
		root, err := m.relative(place)
		if err != nil {
			return nil, err
		}
		out = append(out, yaml.MapItem{Key: p.Name, Value: yaml.MapSlice{
			{Key: "root", Value: root}, {Key: "mode", Value: mode}, {Key: "approval", Value: words},
		}})
	}
	return out, nil
}

// relative is a place as the file of a new worker names it.
func (m *Member) relative(p roots.Place) (string, error) {
	folder, err := filepath.EvalSymlinks(filepath.Dir(m.crew.projectFolder()))
	if err != nil {
		return p.Key(), nil
	}
	return filepath.Rel(filepath.Join(folder, filepath.Base(m.crew.projectFolder())), p.Key())
}

// ceiling is the freest word that the creator can give about an access.
func ceiling(p roots.Place, a roots.Access) string {
	switch p.FolderAct(a).Verdict {
	case policy.VerdictFree:
		return "allow"
	case policy.VerdictAsk:
		return "ask"
	}
	return "deny"
}

// ceilingAsk is ceiling, and never free.
func ceilingAsk(p roots.Place, a roots.Access) string {
	if word := ceiling(p, a); word != "allow" {
		return word
	}
	return "ask"
}
