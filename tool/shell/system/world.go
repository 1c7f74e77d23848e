package system

import (
	"os/user"
	"strings"
	"sync"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

// A World answers what the analysis asks about this machine, for a command that
// starts in one folder with one environment. It is not safe for concurrent use.
type World struct {
	dir string
	env []string

	places   map[string]place
	lists    map[listing]listed
	programs map[string]string
	configs  map[string]configured
}

var _ analysis.World = (*World)(nil)

// New returns the world of a command that starts in the folder, an absolute path,
// with exactly this environment.
func New(dir string, env []string) *World { return &World{dir: dir, env: env} }

// In returns the world as it is for a command after a change to the folder: there,
// /proc/self/cwd and $PWD say something else.
func (w *World) In(dir string) analysis.World { return New(dir, w.env) }

// Variable returns the value that the environment has for the command. The shell
// sets further variables by itself, of which only PWD is known here: that one is
// not set does not mean that it is empty.
func (w *World) Variable(name string) (value string, set bool) {
	if name == "PWD" {
		return w.dir, true
	}
	for _, entry := range w.env {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// Home returns the folder that a tilde stands for: $HOME, and without one what the
// system says; empty if nothing does.
func (w *World) Home() string {
	if home, set := w.Variable("HOME"); set {
		return home
	}
	return ownHome()
}

var ownHome = sync.OnceValue(func() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
})

// remember puts a value into a map that is made when it is first needed.
func remember[K comparable, V any](m *map[K]V, key K, value V) V {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
	return value
}
