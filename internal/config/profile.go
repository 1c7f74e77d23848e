package config

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/roots"
)

// A Setting is what a profile depends on besides the policy.
type Setting struct {
	// Own are assent's files and folders: its config, its state, the program. They are
	// protected, whether they exist or not.
	Own []sandbox.Entry
	// Masked are files that nobody may read: what a rule denies and exists now.
	Masked []sandbox.Entry
	// Hidden are folders that no command may see, also inside a folder that it may: in assent's
	// state are the sockets that run what was judged.
	Hidden []sandbox.Entry
	// Home is the user's home folder, for paths that begin with ~/.
	Home string
	// CacheFolder is where programs are given folders to cache in.
	CacheFolder string
	// Tools looks at the user's home folder for policies that show tools of it. Nil finds
	// nothing there.
	Tools func(sandbox.Network) HomeTools
	// Env are the names of variables that pass besides the usual ones.
	Env []string
	// Limits are for each command.
	Limits sandbox.Limits
	// ByName says that the connections of commands are decided about by name.
	ByName bool
	// Resolve returns a path without symbolic links. What does not exist is resolved as
	// far as it does.
	Resolve func(path string) (string, error)
}

// A HomeTools is what of the user's home folder commands may see and use.
type HomeTools struct {
	// Read are folders that they may read; Masked is what they may not see there.
	Read, Masked []sandbox.Entry
	// Files stand in the home folder of commands, and not in the user's.
	Files []sandbox.HomeFile
	// Env are variables for the programs that cache, besides those of [Caches].
	Env map[string]string
}

// ownCaches are the caches that a project gets where commands see the user's tools.
var ownCaches = []string{"cargo", "go", "npm", "pip"}

// Profile derives what commands may reach from what the policy lets tools reach.
func (p *Policy) Profile(s Setting) (sandbox.Profile, error) {
	d := &derivation{setting: s, profile: sandbox.Profile{
		GitWrite: p.OS.GitWrite, GitSource: p.OS.GitWriteSource, Network: p.OS.Network, Limits: s.Limits,
		Env: sandbox.Env{Pass: slices.Concat(sandbox.DefaultPass(), s.Env), Set: map[string]string{}},
	}}
	folders, err := sameFolders(p.Roots, s.Resolve)
	if err != nil {
		return sandbox.Profile{}, err
	}
	for _, names := range folders {
		d.folder(p.Roots, names)
	}
	e := p.OS.Extra
	d.extra(e.Read, sandbox.ModeReadOnly)
	d.extra(e.Write, sandbox.ModeReadWrite)
	for _, c := range e.Caches {
		d.cache(c)
	}
	if p.OS.Home.Tools && s.Tools != nil {
		d.tools(p.OS)
	}
	d.profile.Masked = append(d.profile.Masked, d.entries(s.Masked)...)
	for _, e := range d.entries(s.Hidden) {
		if slices.ContainsFunc(d.profile.Roots, func(r sandbox.Root) bool { return sandbox.Below(r.Path, e.Path) }) {
			d.profile.Masked = append(d.profile.Masked, e) // elsewhere nothing is seen anyway
		}
	}
	d.profile.Sockets = d.entries(e.Sockets)
	d.profile.Protected = d.entries(s.Own)
	if d.err != nil {
		return sandbox.Profile{}, d.err
	}
	out := d.profile.Sorted()
	return out, out.Check()
}

// A derivation is one under way. Its first error is kept.
type derivation struct {
	setting Setting
	profile sandbox.Profile
	err     error
}

// folder adds a folder of the tools: writable if a change of some kind is possible at all.
// One that nobody may read is not there. If it has several names the strictest word holds.
func (d *derivation) folder(list []roots.Root, names []int) {
	first := func(is func(r *roots.Root) bool) (source string, found bool) {
		for _, i := range names {
			if is(&list[i]) {
				return list[i].Source, true
			}
		}
		return list[names[0]].Source, false
	}
	unread, hidden := first(func(r *roots.Root) bool { return blocks(r, roots.AccessRead) })
	fixed, isFixed := first(func(r *roots.Root) bool { return r.Mode != roots.ModeReadWrite })
	unwritten, noWrites := first(func(r *roots.Root) bool { return blocks(r, roots.AccessWrite) })
	_, noDeletes := first(func(r *roots.Root) bool { return blocks(r, roots.AccessDelete) })
	mode, source := sandbox.ModeReadWrite, list[names[0]].Source
	switch {
	case isFixed:
		mode, source = sandbox.ModeReadOnly, fixed
	case noWrites && noDeletes:
		mode, source = sandbox.ModeReadOnly, unwritten
	}
	for _, i := range names { // one folder may have several paths: it may be mounted twice
		path := d.resolve(list[i].Host, list[i].Source)
		if hidden {
			d.profile.Masked = append(d.profile.Masked, sandbox.Entry{Path: path, Source: unread})
			continue
		}
		d.add(sandbox.Root{Path: path, Mode: mode, Guarded: true, Source: source})
	}
}

func (d *derivation) extra(list []sandbox.Entry, mode sandbox.Mode) {
	for _, e := range d.entries(list) {
		d.add(sandbox.Root{Path: e.Path, Mode: mode, Guarded: true, Source: e.Source})
	}
}

// add adds a root, unless the place is there already: what sandbox.extra and caches say is
// for places that no root names, and extra.read comes before extra.write.
func (d *derivation) add(r sandbox.Root) {
	if !slices.ContainsFunc(d.profile.Roots, func(o sandbox.Root) bool { return o.Path == r.Path }) {
		d.profile.Roots = append(d.profile.Roots, r)
	}
}

// tools adds what the user's home has for commands, where no root shows it already, and caches
// that belong to these roots alone: what one project's commands put there, no other's read.
func (d *derivation) tools(s OSSandbox) {
	var names strings.Builder
	for _, r := range d.profile.Sorted().Roots {
		fmt.Fprintf(&names, "%q\n", r.Path)
	}
	own := filepath.Join(d.setting.CacheFolder, fmt.Sprintf("of-%x", sha256.Sum256([]byte(names.String())))[:len("of-")+32])
	network := s.Network
	if d.setting.ByName {
		network = network.Staged()
	}
	found := d.setting.Tools(network)
	for _, e := range found.Read {
		if d.profile.At(e.Path) == sandbox.ModeHidden {
			d.add(sandbox.Root{Path: e.Path, Mode: sandbox.ModeReadOnly, Source: s.Home.Source + "; " + e.Source})
		}
	}
	d.profile.Masked = append(d.profile.Masked, found.Masked...)
	d.profile.Files = found.Files
	maps.Copy(d.profile.Env.Set, found.Env)
	own = d.resolve(own, s.Home.Source)
	d.add(sandbox.Root{Path: own, Mode: sandbox.ModeReadWrite, Source: s.Home.Source}) // one for all: each mount costs
	for _, name := range ownCaches {
		if !slices.ContainsFunc(s.Extra.Caches, func(e sandbox.Entry) bool { return e.Path == name }) {
			d.tell(name, filepath.Join(own, name))
		}
	}
}

// cache gives a program a folder of its own, which no program outside ever reads.
func (d *derivation) cache(c sandbox.Entry) {
	dir := d.resolve(filepath.Join(d.setting.CacheFolder, c.Path), c.Source)
	d.add(sandbox.Root{Path: dir, Mode: sandbox.ModeReadWrite, Source: c.Source})
	d.tell(c.Path, dir)
}

// tell tells a program where its cache is.
func (d *derivation) tell(name, dir string) {
	for variable, part := range Caches[name] {
		d.profile.Env.Set[variable] = filepath.Join(dir, part)
	}
}

func (d *derivation) entries(list []sandbox.Entry) []sandbox.Entry {
	var out []sandbox.Entry
	for _, e := range list {
		out = append(out, sandbox.Entry{Path: d.resolve(e.Path, e.Source), Source: e.Source})
	}
	return out
}

func (d *derivation) resolve(path, source string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = filepath.Join(d.setting.Home, path[1:])
	}
	real, err := d.setting.Resolve(path)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("%s: %w", source, err)
	}
	return real
}
