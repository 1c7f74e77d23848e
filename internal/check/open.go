package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// open opens the tools of the file as a run would, looking only, and tries its examples
// on them. What keeps a run from opening them is an error of the file.
func (l *look) open(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "assent-check-")
	if err != nil {
		return fmt.Errorf("the tools cannot be opened: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	standing, err := l.policy.StandIns(dir)
	if err != nil {
		return fmt.Errorf("the tools cannot be opened: %w", err)
	}
	if l.shared() {
		standing = inAgentsFolder(standing, dir)
	}
	e, closing, err := l.explainer(standing, dir)
	var wrong *tool.ConfigError
	if errors.As(err, &wrong) && l.projects() {
		l.warn(wrong.Source, "%v. 'assent call', 'explain' and 'mcp' fail without one; hooks of other agents work, "+
			"because they add the agent's folder", wrong.Err)
		e, closing, err = l.explainer(inAgentsFolder(standing, l.file.Folder), dir)
	}
	l.profile()
	if err != nil {
		l.refused(err, standing, dir)
		return nil
	}
	defer func() { err = errors.Join(err, closing()) }()
	l.expectations(ctx, e)
	return nil
}

// shared reports whether the file is there for many others, which bring their folders: the
// user's config, or the administrator's.
func (l *look) shared() bool {
	return l.file.Kind == config.UserFile || l.file.Path == config.AdminFile
}

// projects reports whether the file is the policy of a project, which hooks use as well.
func (l *look) projects() bool {
	return l.file.Kind == config.PolicyFile && filepath.Base(filepath.Dir(l.file.Path)) == config.ProjectFolder
}

// inAgentsFolder returns the policy with a root for an agent's folder, in which commands run.
func inAgentsFolder(p *config.Policy, folder string) *config.Policy {
	out := *p
	out.Shell.Cwd = ""
	if !slices.ContainsFunc(p.Roots, func(r roots.Root) bool { return r.Name == "." }) {
		out.Roots = append(slices.Clone(p.Roots), roots.Root{Name: ".", Host: folder, Mode: roots.ModeReadWrite})
	}
	return &out
}

// refused notes why the tools cannot be opened, where it stands.
func (l *look) refused(err error, standing *config.Policy, dir string) {
	var root *roots.RootError
	var wrong *tool.ConfigError
	switch {
	case errors.As(err, &root):
		l.fail(root.Root.Source, "root %q: %v", root.Root.Name, root.Err)
		return
	case errors.As(err, &wrong):
		l.fail(wrong.Source, "%v", wrong.Err)
		return
	}
	for i, c := range standing.CustomTools { // the one without which they can
		without := *standing
		without.CustomTools = slices.Delete(slices.Clone(standing.CustomTools), i, i+1)
		if _, closing, again := l.explainer(&without, dir); again == nil {
			l.fail(c.Source, "custom tool %s: %v", c.Name, errors.Join(err, closing()))
			return
		}
	}
	l.fail(l.policy.File, "the tools cannot be opened: %v", err)
}

// profile derives what commands may reach, as every run does first.
func (l *look) profile() {
	_, err := l.policy.Profile(l.setting)
	if err == nil {
		return
	}
	for _, r := range l.policy.Roots { // the one that is wrong by itself
		alone := config.Policy{Roots: []roots.Root{r}}
		if _, err := alone.Profile(l.setting); err != nil {
			l.fail(r.Source, "%v", err)
			return
		}
	}
	l.fail(l.policy.File, "%v", err)
}

// explainer judges calls under the policy alone.
func (l *look) explainer(p *config.Policy, state string) (*explain.Explainer, func() error, error) {
	e := &explain.Explainer{Policy: policy.Policy{Fixed: p.Rules, Reserved: l.reserved}, Clock: time.Now}
	opts := toolbox.Options{
		State: filepath.Join(state, "state"), Protected: []string{l.file.Path}, Environ: os.Environ(), Looking: true,
		Denied: e.Denied,
		Folder: l.file.Folder, File: p.File,
	}
	if l.file.Worker != nil {
		opts.Further = crewTools()
	}
	box, err := toolbox.Open(p, opts)
	if err != nil {
		return nil, nil, err
	}
	tools, err := exampleTools(box)
	if err != nil {
		return nil, nil, errors.Join(err, box.Close())
	}
	set, err := tool.NewSet(tools...)
	if err != nil {
		return nil, nil, errors.Join(err, box.Close())
	}
	e.Tools = set
	return e, box.Close, nil
}

// crewTools stand for the tools that a worker has besides those of its file.
func crewTools() []tool.Tool {
	var out []tool.Tool
	for _, name := range []string{policy.ActWorkerCall, policy.ActWorkerCreate, policy.ActShareFile, "list_workers"} {
		out = append(out, tool.Func(name, "", func(context.Context, struct{}) (any, error) { return nil, nil }))
	}
	return out
}
