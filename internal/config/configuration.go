package config

import (
	"os"

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

// MissingRoots are the roots that may be written and do not exist. They are made when a run
// starts, and never before its file is trusted.
func (p *Policy) MissingRoots() []roots.Root {
	var out []roots.Root
	for _, r := range p.Roots {
		if _, err := os.Stat(r.Host); r.Mode == roots.ReadWrite && os.IsNotExist(err) {
			out = append(out, r)
		}
	}
	return out
}
