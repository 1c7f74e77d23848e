package sandbox

import (
	"path"
	"slices"
)

// A Wall is what one command is held to inside its profile: what it was judged to do, and no
// more. It only ever takes away. The zero Wall holds nothing: the profile alone does.
type Wall struct {
	// Writes says that nothing is written but what is listed here; what is private to the
	// command stays writable.
	Writes bool `json:"writes,omitempty"`
	// Files are those that the shell opens to write for the command's redirections.
	Files []string `json:"files,omitempty"`
	// Changed are files that programs write where they are. One that does not exist when the
	// command starts stands for its folder.
	Changed []string `json:"changed,omitempty"`
	// Folders are those in which, and below which, programs make, replace and remove files:
	// the kernel cannot hold them to less.
	Folders []string `json:"folders,omitempty"`
	// Programs are the only files that may be executed; nil means any.
	Programs []string `json:"programs,omitempty"`
	// Shared says that a program of the list is one file with many tools, so that the list
	// says little about which of them run.
	Shared string `json:"-"`
	// Why says why the command is held to nothing but the profile.
	Why string `json:"-"`
}

// Stands reports whether there is anything that the kernel has to be told about.
func (w Wall) Stands() bool { return w.Writes || w.Programs != nil }

func (w Wall) sorted() Wall {
	w.Files, w.Changed, w.Folders = unique(w.Files), unique(w.Changed), unique(w.Folders)
	if w.Programs != nil {
		w.Programs = append([]string{}, unique(w.Programs)...) // an empty list is not nil
	}
	return w
}

// Narrow returns the profile for a command behind this wall: roots without a write in them
// are read-only. Caches, which hold no project, stay as they are.
func (p Profile) Narrow(w Wall) Profile {
	p.Wall = w.sorted()
	if !w.Writes {
		return p
	}
	// What lies elsewhere is private to the command or not there. No rule about it is needed,
	// and one about a folder above a root would open all of that.
	elsewhere := func(file string) bool {
		return !slices.ContainsFunc(p.Roots, func(r Root) bool { return r.writes() && Below(r.Path, file) })
	}
	for _, list := range []*[]string{&p.Wall.Files, &p.Wall.Changed, &p.Wall.Folders} {
		*list = slices.DeleteFunc(*list, elsewhere)
	}
	written := slices.Concat(p.Wall.Files, p.Wall.Changed, p.Wall.Folders)
	p.Roots = slices.Clone(p.Roots)
	for i, r := range p.Roots {
		touched := slices.ContainsFunc(written, func(file string) bool { return Below(r.Path, file) })
		if r.Mode == ModeReadWrite && r.Guarded && !touched {
			p.Roots[i].Mode = ModeReadOnly
		}
	}
	if !slices.ContainsFunc(p.Roots, func(r Root) bool { return r.Mode == ModeReadWrite && r.Guarded }) {
		p.Wall.Writes = false // the mounts hold all of it, and more than the kernel's rules would
	}
	return p
}

// Private returns the folders that a command in this profile has for itself, as rules about
// them: one that holds a writable root is replaced by folders of its own, since a rule covers
// all that lies below.
func (p Profile) Private(home string) []string {
	var out []string
	for _, r := range p.Roots {
		if r.Mode == ModeReadWrite && !r.Guarded {
			out = append(out, r.Path)
		}
	}
	inRoot := func(dir string) bool {
		return slices.ContainsFunc(p.Roots, func(r Root) bool { return Below(r.Path, dir) })
	}
	holdsRoot := func(dir string) bool {
		return slices.ContainsFunc(p.Roots, func(r Root) bool { return r.writes() && Below(dir, r.Path) })
	}
	inGuarded := func(dir string) bool {
		return slices.ContainsFunc(p.Roots, func(r Root) bool { return r.Guarded && Below(r.Path, dir) })
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", home} {
		switch {
		case !path.IsAbs(dir) || inRoot(dir):
		case !holdsRoot(dir):
			out = append(out, dir)
		case dir == home:
			out = append(out, path.Join(home, ".cache"), path.Join(home, ".config"), path.Join(home, ".local"))
		case dir == "/tmp":
			out = append(out, PrivateTmp)
		}
	}
	return slices.DeleteFunc(out, func(dir string) bool { return holdsRoot(dir) || inGuarded(dir) })
}

// PrivateTmp is where temporary files go if a root lies below /tmp.
const PrivateTmp = "/tmp/.private"

// writes reports whether commands may write to a root of the policy.
func (r Root) writes() bool { return r.Mode == ModeReadWrite && r.Guarded }
