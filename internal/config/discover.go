package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/roots"
)

// Places are where the tiers of configuration are found. The zero Places find nothing but
// what they are given.
type Places struct {
	// Admin is the administrator's file, [AdminFile]; Config the user's config folder.
	Admin, Config string
	// Resolve returns a path without symbolic links, as in [Setting].
	Resolve func(string) (string, error)
}

// A Configuration is all that holds for a run, a hook or a gateway.
type Configuration struct {
	*Effective
	// User are the user's defaults, never nil.
	User *User
	// Worker is the worker that runs; nil if there is none.
	Worker *Worker
	// Files are the paths of the files that were read. No tool may write them.
	Files []string
}

// With puts a worker or a project's policy, which may be nil, on top of what administrator
// and user say. A file in the user's config folder is the user's own and needs no trust.
func (p Places) With(file *File, trusted bool) (*Configuration, error) {
	c := &Configuration{}
	tiers, err := p.admin(c)
	if err != nil {
		return nil, err
	}
	user, err := ReadUser(p.Config)
	if err != nil {
		return nil, err
	}
	c.User, c.Files = user.User, append(c.Files, user.Path)
	tiers = append(tiers, Tier{Kind: UserTier, Policy: user.Policy})
	if file != nil {
		tiers = append(tiers, Tier{Kind: Project, Policy: file.Policy, Trusted: trusted || p.Owns(file.Path)})
		c.Worker, c.Files = file.Worker, append(c.Files, file.Path)
	}
	c.Effective, err = Combine(p.Resolve, tiers...)
	return c, err
}

// Operator is for a file that the operator names with -c: it is trusted and replaces what
// would be found otherwise. Only the administrator's word holds besides it.
func (p Places) Operator(file *File) (*Configuration, error) {
	c := &Configuration{User: &User{Policy: &Policy{}}, Worker: file.Worker}
	if file.User != nil {
		c.User = file.User
	}
	tiers, err := p.admin(c)
	if err != nil {
		return nil, err
	}
	c.Files = append(c.Files, file.Path)
	c.Effective, err = Combine(p.Resolve, append(tiers, Tier{Kind: Operator, Policy: file.Policy})...)
	return c, err
}

func (p Places) admin(c *Configuration) ([]Tier, error) {
	if p.Admin == "" {
		return nil, nil
	}
	file, err := ReadAdmin(p.Admin)
	if err != nil || file == nil {
		return nil, err
	}
	c.Files = append(c.Files, file.Path)
	return []Tier{{Kind: Administrator, Policy: file.Policy}}, nil
}

// Owns reports whether a file lies in the user's config folder, and leads nowhere else.
func (p Places) Owns(path string) bool {
	folder, err := filepath.EvalSymlinks(p.Config)
	if err != nil || p.Config == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && strings.HasPrefix(real, folder+string(filepath.Separator))
}

// MissingRoots are the roots that may be written and do not exist, under all their names.
// They are made when a run starts, and never before its file is trusted.
func (p *Policy) MissingRoots() []roots.Root {
	var out []roots.Root
	folders, err := sameFolders(p.Roots, roots.RealPath)
	if err != nil {
		return nil // there is no working folder, and opening the roots says so
	}
	for _, names := range folders {
		if !slices.ContainsFunc(names, func(i int) bool { return p.Roots[i].Mode == roots.ReadWrite }) {
			continue
		}
		for _, i := range names {
			if _, err := os.Stat(p.Roots[i].Host); os.IsNotExist(err) {
				out = append(out, p.Roots[i])
			}
		}
	}
	return out
}
