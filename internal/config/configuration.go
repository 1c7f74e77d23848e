package config

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/tool/roots"
)

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

// MissingRoots are the roots that may be written and do not exist, under all their names.
// They are made when a run starts, and never before its file is trusted.
func (p *Policy) MissingRoots() []roots.Root {
	var out []roots.Root
	folders, err := sameFolders(p.Roots, realpath.Resolve)
	if err != nil {
		return nil // opening the roots says so
	}
	for _, names := range folders {
		if !slices.ContainsFunc(names, func(i int) bool { return p.Roots[i].Mode == roots.ModeReadWrite }) {
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

// StandIns returns the policy with empty folders, made below dir, in place of those that do
// not exist yet: one folder for all its names, and one in another where they will be.
func (p *Policy) StandIns(dir string) (*Policy, error) {
	out := *p
	out.Roots = slices.Clone(p.Roots)
	for i := range out.Roots {
		r := &out.Roots[i]
		if _, err := os.Stat(r.Host); !os.IsNotExist(err) {
			continue
		}
		real, err := realpath.Resolve(r.Host)
		if err != nil {
			return nil, err
		}
		r.Host = filepath.Join(dir, "roots", real)
		if err := os.MkdirAll(r.Host, 0o700); err != nil {
			return nil, err
		}
	}
	return &out, nil
}
