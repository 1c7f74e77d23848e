package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// A Mode says what a process may do with a file. More is larger.
type Mode int

// The modes. The zero Mode is Nothing: the file is not even there.
const (
	ModeHidden Mode = iota
	ModeReadOnly
	ModeReadWrite
)

func (m Mode) String() string {
	switch m {
	case ModeReadOnly:
		return "ro"
	case ModeReadWrite:
		return "rw"
	}
	return "none"
}

// MarshalText writes the mode as config does.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// A Root is a folder, or a single file, that a process may reach.
type Root struct {
	// Path is absolute, clean and without symbolic links.
	Path string `json:"path"`
	Mode Mode   `json:"mode"`
	// Guarded says that protected names are looked for in it: .git and .assent. It is
	// off for places that hold no project, such as caches.
	Guarded bool `json:"guarded"`
	// Source is the line of config behind it.
	Source string `json:"source,omitempty"`
}

// An Entry is a path in a profile and the line of config behind it.
type Entry struct {
	Path   string `json:"path"` // absolute and clean; it need not exist
	Source string `json:"source,omitempty"`
}

// A HomeFile is a small text, or a symbolic link, that a process finds in its private home. It
// stands nowhere on the host: settings of the user, without what is secret in them.
type HomeFile struct {
	// Path is absolute, clean, and below the home folder of the command.
	Path string `json:"path"`
	Text string `json:"text,omitempty"`
	// Target makes it a symbolic link that leads there.
	Target string `json:"target,omitempty"`
	Source string `json:"source,omitempty"`
}

// A Profile is what a process may reach. The zero Profile reaches the system's own
// programs and a private /tmp.
type Profile struct {
	// Roots are the folders that may be reached. The deepest one that holds a path
	// decides about it.
	Roots []Root `json:"roots"`
	// Protected are never written, whatever root they lie in, also when they do not exist
	// yet; the folders above them cannot be renamed away.
	Protected []Entry `json:"protected"`
	// Masked can be neither read nor written.
	Masked []Entry `json:"masked"`
	// GitWrite lets processes write to .git, without what makes git run programs: hooks,
	// config, info and modules. Otherwise all of .git is protected, wherever it is found.
	GitWrite bool `json:"git_write"`
	// GitSource is the line of config behind GitWrite.
	GitSource string  `json:"git_source,omitempty"`
	Network   Network `json:"network"`
	// Sockets are unix sockets that may be connected to. None means that no unix socket
	// can be made; pairs of connected sockets always can.
	Sockets []Entry `json:"unix_sockets"`
	Env     Env     `json:"env"`
	Limits  Limits  `json:"limits"`
	// Files are put into the home folder where it is a private one, and are private as
	// well: what a process changes there ends with it. A runner without private folders
	// leaves them out.
	Files []HomeFile `json:"files,omitempty"`
	// Wall is what one command is held to inside all this; see [Profile.Narrow].
	Wall Wall `json:"wall,omitzero"`
}

// Env is the environment of a process: nothing but this.
type Env struct {
	// Pass are the names of variables whose values are taken over from the caller.
	Pass []string `json:"pass"`
	// Set are variables with a value of their own.
	Set map[string]string `json:"set,omitempty"`
}

// DefaultPass are the variables that always pass.
func DefaultPass() []string { return []string{"HOME", "LANG", "PATH", "TERM", "TZ"} }

// Values returns the environment in the form NAME=VALUE, sorted. Lookup tells the
// caller's own variables.
func (e Env) Values(lookup func(string) (string, bool)) []string {
	values := map[string]string{}
	for _, name := range e.Pass {
		if v, ok := lookup(name); ok {
			values[name] = v
		}
	}
	for name, v := range e.Set {
		values[name] = v
	}
	out := make([]string, 0, len(values))
	for name, v := range values {
		out = append(out, name+"="+v)
	}
	slices.Sort(out)
	return out
}

// Check reports what keeps the profile from being used: paths that are not absolute and
// clean, or that would hand over the whole file system.
func (p Profile) Check() error {
	for _, r := range p.Roots {
		if r.Mode != ModeReadOnly && r.Mode != ModeReadWrite {
			return fmt.Errorf("root %s has no mode; it is ro or rw (%s)", r.Path, r.Source)
		}
		if r.Path == "/" {
			return fmt.Errorf("root / would hand over the whole file system; name a folder (%s)", r.Source)
		}
		if err := checkPath(r.Path, r.Source); err != nil {
			return err
		}
	}
	for _, e := range slices.Concat(p.Protected, p.Masked, p.Sockets) {
		if err := checkPath(e.Path, e.Source); err != nil {
			return err
		}
	}
	for _, f := range p.Files {
		if err := checkPath(f.Path, f.Source); err != nil {
			return err
		}
	}
	return p.Limits.check()
}

func checkPath(p, source string) error {
	if !path.IsAbs(p) || path.Clean(p) != p || strings.ContainsRune(p, 0) {
		return fmt.Errorf("path %q is not absolute and clean (%s)", p, source)
	}
	return nil
}

// At returns what may be done with the file at an absolute, clean path that leads through
// no symbolic link.
func (p Profile) At(file string) Mode {
	if holds(p.Masked, file) {
		return ModeHidden
	}
	mode := p.root(file).Mode
	if mode == ModeReadWrite && holds(p.Protected, file) {
		return ModeReadOnly
	}
	return mode
}

// root returns the deepest root that holds the path; the zero Root if there is none.
func (p Profile) root(file string) Root {
	var found Root
	for _, r := range p.Roots {
		if Below(r.Path, file) && len(r.Path) >= len(found.Path) {
			found = r
		}
	}
	return found
}

// Hidden returns what hides the file at a path, if something does.
func (p Profile) Hidden(file string) (Entry, bool) {
	i := slices.IndexFunc(p.Masked, func(e Entry) bool { return Below(e.Path, file) })
	if i < 0 {
		return Entry{}, false
	}
	return p.Masked[i], true
}

func holds(list []Entry, file string) bool {
	return slices.ContainsFunc(list, func(e Entry) bool { return Below(e.Path, file) })
}

// Below reports whether a path is the folder or lies below it. Both are clean.
func Below(folder, file string) bool {
	return file == folder || folder == "/" || strings.HasPrefix(file, folder+"/")
}

// Sorted returns the profile with its entries in order, so that equal profiles look equal.
func (p Profile) Sorted() Profile {
	p.Roots = copyOf(p.Roots)
	slices.SortStableFunc(p.Roots, func(a, b Root) int { return cmp.Compare(a.Path, b.Path) })
	p.Wall = p.Wall.sorted()
	p.Protected, p.Masked, p.Sockets = sorted(p.Protected), sorted(p.Masked), sorted(p.Sockets)
	p.Files = copyOf(p.Files)
	slices.SortStableFunc(p.Files, func(a, b HomeFile) int { return cmp.Compare(a.Path, b.Path) })
	p.Files = slices.CompactFunc(p.Files, func(a, b HomeFile) bool { return a.Path == b.Path })
	p.Env.Pass = unique(p.Env.Pass)
	if len(p.Env.Set) == 0 {
		p.Env.Set = nil
	}
	p.Network.Domains, p.Network.Deny = unique(p.Network.Domains), unique(p.Network.Deny)
	if p.Network.On && !p.Network.ByName {
		p.Network.Domains = nil // all of them
	}
	return p
}

// sorted returns the entries in order, the first of each path.
func sorted(list []Entry) []Entry {
	list = copyOf(list)
	slices.SortStableFunc(list, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b Entry) bool { return a.Path == b.Path })
}

func unique(list []string) []string {
	list = copyOf(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// copyOf returns a list of its own; an empty one is nil.
func copyOf[E any](list []E) []E { return append([]E(nil), list...) }

// Intersect returns what both profiles allow: the profile of a child that must not reach
// more than its parent. For every path, At is the smaller of both.
func (p Profile) Intersect(o Profile) Profile {
	out := Profile{
		Protected: slices.Concat(p.Protected, o.Protected),
		Masked:    slices.Concat(p.Masked, o.Masked),
		GitWrite:  p.GitWrite && o.GitWrite,
		Network:   p.Network.intersect(o.Network),
		Sockets:   common(p.Sockets, o.Sockets),
		Env:       p.Env.intersect(o.Env),
		Limits:    p.Limits.Within(o.Limits),
	}
	for _, f := range p.Files {
		same := func(other HomeFile) bool {
			return other.Path == f.Path && other.Text == f.Text && other.Target == f.Target
		}
		if slices.ContainsFunc(o.Files, same) {
			out.Files = append(out.Files, f)
		}
	}
	out.GitSource = p.GitSource
	if p.GitWrite && !o.GitWrite {
		out.GitSource = o.GitSource
	}
	for _, r := range slices.Concat(p.Roots, o.Roots) {
		out.addRoot(r, min(p.root(r.Path).Mode, o.root(r.Path).Mode), p.root(r.Path).Guarded || o.root(r.Path).Guarded)
	}
	return out.Sorted()
}

// addRoot adds the root with the mode that both sides leave it; none leaves it out.
func (p *Profile) addRoot(r Root, mode Mode, guarded bool) {
	known := slices.ContainsFunc(p.Roots, func(k Root) bool { return k.Path == r.Path })
	if mode == ModeHidden || known {
		return
	}
	r.Mode, r.Guarded = mode, guarded
	p.Roots = append(p.Roots, r)
}

func (e Env) intersect(o Env) Env {
	out := Env{Set: maps.Clone(e.Set)}
	for _, name := range e.Pass {
		if slices.Contains(o.Pass, name) {
			out.Pass = append(out.Pass, name)
		}
	}
	maps.DeleteFunc(out.Set, func(name, value string) bool { return o.Set[name] != value })
	return out
}

// common returns the entries whose path is in both lists.
func common(a, b []Entry) []Entry {
	var out []Entry
	for _, e := range a {
		if slices.ContainsFunc(b, func(o Entry) bool { return o.Path == e.Path }) {
			out = append(out, e)
		}
	}
	return out
}

// Hash names what the profile allows. Where its entries come from and in which order they
// stand makes no difference.
func (p Profile) Hash() [sha256.Size]byte {
	p = p.Sorted()
	for i := range p.Roots {
		p.Roots[i].Source = ""
	}
	for i := range p.Files {
		p.Files[i].Source = ""
	}
	for _, list := range [][]Entry{p.Protected, p.Masked, p.Sockets} {
		for i := range list {
			list[i].Source = ""
		}
	}
	p.GitSource, p.Network.Source, p.Network.Lines = "", "", nil
	data, err := json.Marshal(p)
	if err != nil {
		panic("sandbox: a profile of plain values has no JSON: " + err.Error())
	}
	return sha256.Sum256(data)
}
