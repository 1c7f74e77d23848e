package hook

import (
	"context"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// A policy is what holds for the calls of an agent in a folder.
type policy struct {
	*config.Policy
	user  *config.User
	files []string // that were read; no tool may write them
}

// builtIn is what holds where nobody said anything: reading in the folder is free, writing
// asks, and so do commands that are not known to do nothing but read.
const builtIn = "assent's default"

func defaultPolicy(dir string, withShell bool) *config.Policy {
	p := &config.Policy{
		File: builtIn, Secrets: roots.DefaultSecrets,
		Roots: []roots.Root{{Name: ".", Host: dir, Mode: roots.ReadWrite, Source: builtIn}},
		OS:    config.OSSandbox{Network: sandbox.Network{On: true, Source: builtIn}},
	}
	if withShell {
		p.HasShell, p.Shell = true, shell.Config{Readonly: true}
	}
	return p
}

// policyFor puts the files together that hold in the agent's folder.
func (a *answering) policyFor(ctx context.Context, dir string, user *config.File) (*policy, error) {
	var tiers []config.Tier
	out := &policy{}
	admin, err := config.ReadAdmin(a.Admin)
	if err != nil {
		return nil, err
	}
	if admin != nil {
		tiers = append(tiers, config.Tier{Kind: config.Administrator, Policy: admin.Policy})
		out.files = append(out.files, admin.Path)
	}
	tiers = append(tiers, config.Tier{Kind: config.UserTier, Policy: user.Policy})
	out.user, out.files = user.User, append(out.files, user.Path)
	project, err := a.project(ctx, dir)
	if err != nil {
		return nil, err
	}
	if project != nil {
		tiers = append(tiers, *project)
	}
	first := config.Tier{Kind: config.BuiltIn, Policy: defaultPolicy(dir, !saysShell(tiers))}
	all, err := config.Combine(realPath, append([]config.Tier{first}, tiers...)...)
	if err != nil {
		return nil, err
	}
	out.Policy = all.Policy
	return out, nil
}

// saysShell reports whether a file that may say so speaks about commands.
func saysShell(tiers []config.Tier) bool {
	for _, t := range tiers {
		if t.Policy.HasShell && (t.Kind != config.Project || t.Trusted) {
			return true
		}
	}
	return false
}

// project returns the policy that comes with the project, nil if there is none.
func (a *answering) project(ctx context.Context, dir string) (*config.Tier, error) {
	path, err := config.FindProject(dir)
	if err != nil || path == "" {
		return nil, err
	}
	file, err := config.Read(path, config.PolicyFile)
	if err != nil {
		return nil, err
	}
	bundle, err := trust.Of(file)
	if err != nil {
		return nil, err
	}
	record, known, err := trust.Folder(filepath.Join(a.State, "trust")).Get(ctx, bundle.Path)
	if err != nil {
		return nil, err
	}
	state, _ := trust.Compare(bundle, record, known)
	return &config.Tier{Kind: config.Project, Policy: file.Policy, Trusted: state == trust.Trusted}, nil
}

// realPath returns a path without symbolic links, as far as it exists.
func realPath(path string) (string, error) {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	dir, err := realPath(dir)
	return filepath.Join(dir, filepath.Base(path)), err
}

// mode is who answers when nothing remembered does.
func (p *policy) mode() approval.Mode { return p.user.Switched(p.user.Mode) }
