package landlock

import (
	"fmt"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// A Plan is what a process is restricted to before it becomes the command.
type Plan struct {
	ReadFolders  []string          `json:"read_folders"`
	ReadFiles    []string          `json:"read_files"`
	WriteFolders []string          `json:"write_folders"`
	WriteFiles   []string          `json:"write_files"`
	Network      bool              `json:"network"`
	Limits       map[string]uint64 `json:"limits,omitempty"`
	Argv         []string          `json:"argv"`
	Env          []string          `json:"env"`
}

// devices are the files of /dev that every program may use.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// NewPlan writes the plan for a command in a layout whose profile has no needs. IsFolder
// tells what the system's parts are.
func NewPlan(s launch.Layout, c sandbox.Command, isFolder func(string) bool) Plan {
	p := Plan{
		Network: c.Profile.Network.On, Argv: c.Argv, Env: c.Env, WriteFiles: devices,
		Limits: map[string]uint64{"core": 0},
	}
	for _, l := range s.System {
		if l.Source != "" {
			p.read(l.Source, isFolder(l.Source))
		}
	}
	for _, r := range s.Roots {
		p.root(r)
	}
	for name, limit := range map[string]int64{
		"file size": c.Profile.Limits.FileSize, "open files": c.Profile.Limits.OpenFiles,
		"processes": c.Profile.Limits.Processes,
	} {
		if limit > 0 {
			p.Limits[name] = uint64(limit)
		}
	}
	return p
}

func (p *Plan) root(r launch.Place) {
	switch {
	case r.Mode == sandbox.ModeReadOnly:
		p.read(r.Path, r.Kind == launch.KindFolder)
	case r.Kind == launch.KindFolder:
		p.WriteFolders = append(p.WriteFolders, r.Path)
	default:
		p.WriteFiles = append(p.WriteFiles, r.Path)
	}
}

func (p *Plan) read(path string, folder bool) {
	if folder {
		p.ReadFolders = append(p.ReadFolders, path)
	} else {
		p.ReadFiles = append(p.ReadFiles, path)
	}
}

// Needs returns what of a profile Landlock cannot hold.
func Needs(p sandbox.Profile) []string {
	var needs []string
	need := func(format string, args ...any) { needs = append(needs, fmt.Sprintf(format, args...)) }
	for _, r := range p.Roots {
		switch {
		case r.Mode == sandbox.ModeReadWrite && r.Guarded:
			need("protecting .git and .assent inside the writable %s (%s)", r.Path, r.Source)
		case r.Mode == sandbox.ModeReadOnly && writable(p, r.Path):
			need("%s read-only inside a writable folder (%s)", r.Path, r.Source)
		}
	}
	for _, e := range p.Protected {
		if writable(p, e.Path) {
			need("protecting %s inside a writable folder (%s)", e.Path, e.Source)
		}
	}
	for _, e := range p.Masked {
		if reached(p, e.Path) {
			need("hiding %s (%s)", e.Path, e.Source)
		}
	}
	for _, e := range p.Sockets {
		need("the unix socket %s and no other (%s)", e.Path, e.Source)
	}
	return needs
}

// writable reports whether a path lies inside a writable root.
func writable(p sandbox.Profile, file string) bool {
	for _, r := range p.Roots {
		if r.Mode == sandbox.ModeReadWrite && r.Path != file && sandbox.Below(r.Path, file) {
			return true
		}
	}
	return false
}

func reached(p sandbox.Profile, file string) bool {
	for _, r := range p.Roots {
		if sandbox.Below(r.Path, file) {
			return true
		}
	}
	return false
}

// Enforced is what a command is held to.
var Enforced = []string{
	"writes only in writable roots",
	"reads only in roots and the system's own programs, libraries and settings",
	"no network unless the profile says so",
	"no unix sockets",
	"no new namespaces, mounts, traces, keys, raw sockets or set-id files",
	"limits on file size, open files, output and time",
}

// NotEnforced is what a command is not held to.
var NotEnforced = []string{
	"protected or hidden paths inside roots: such a profile is refused",
	"modes, times and attributes of files that it owns, anywhere",
	"that files exist, and how large they are, anywhere",
	"other processes: they are seen, and those that leave their group outlive the command",
	"no private /tmp or home folder: there is none",
	"memory and processor time",
}
