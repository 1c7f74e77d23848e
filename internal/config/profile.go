package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
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
	// Home is the user's home folder, for paths that begin with ~/.
	Home string
	// CacheFolder is where programs are given folders to cache in.
	CacheFolder string
	// Env are the names of variables that pass besides the usual ones.
	Env []string
	// Limits are for each command.
	Limits sandbox.Limits
	// Resolve returns a path without symbolic links. What does not exist is resolved as
	// far as it does.
	Resolve func(path string) (string, error)
}

// Profile derives what commands may reach from what the policy lets tools reach.
func (p *Policy) Profile(s Setting) (sandbox.Profile, error) {
	d := &derivation{setting: s, profile: sandbox.Profile{
		GitWrite: p.OS.GitWrite, GitSource: p.OS.GitWriteSource, Network: p.OS.Network, Limits: s.Limits,
		Env: sandbox.Env{Pass: slices.Concat(sandbox.DefaultPass, s.Env), Set: map[string]string{}},
	}}
	for _, r := range p.Roots {
		d.root(r)
	}
	e := p.OS.Extra
	d.extra(e.Read, sandbox.ReadOnly)
	d.extra(e.Write, sandbox.ReadWrite)
	for _, c := range e.Caches {
		d.cache(c)
	}
	d.profile.Masked = append(d.profile.Masked, d.entries(s.Masked)...)
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

// root adds a root of the tools: writable if a change of some kind is possible at all. One
// that nobody may read is not there.
func (d *derivation) root(r roots.Root) {
	path := d.resolve(r.Host, r.Source)
	blocked := func(a roots.Access) bool {
		v, said := r.Approval[a]
		return said && v == approval.Block
	}
	if blocked(roots.Read) {
		d.profile.Masked = append(d.profile.Masked, sandbox.Entry{Path: path, Source: r.Source})
		return
	}
	mode := sandbox.ReadOnly
	if r.Mode == roots.ReadWrite && !(blocked(roots.Write) && blocked(roots.Delete)) {
		mode = sandbox.ReadWrite
	}
	d.add(sandbox.Root{Path: path, Mode: mode, Guarded: true, Source: r.Source})
}

func (d *derivation) extra(list []sandbox.Entry, mode sandbox.Mode) {
	for _, e := range d.entries(list) {
		d.add(sandbox.Root{Path: e.Path, Mode: mode, Guarded: true, Source: e.Source})
	}
}

// add adds a root. The first line that names a place decides about it.
func (d *derivation) add(r sandbox.Root) {
	if !slices.ContainsFunc(d.profile.Roots, func(o sandbox.Root) bool { return o.Path == r.Path }) {
		d.profile.Roots = append(d.profile.Roots, r)
	}
}

// cache gives a program a folder of its own, which no program outside ever reads.
func (d *derivation) cache(c sandbox.Entry) {
	dir := d.resolve(filepath.Join(d.setting.CacheFolder, c.Path), c.Source)
	d.add(sandbox.Root{Path: dir, Mode: sandbox.ReadWrite, Source: c.Source})
	for variable, part := range Caches[c.Path] {
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
