package launch

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
)

// A Layout is what the host looks like to a profile at the moment a command starts: plain
// data, so that planning for it needs no host.
type Layout struct {
	// Roots are those of the profile, which exist and lead through no symbolic link.
	Roots []Place
	// Protected are the profile's own, and what was found in guarded roots. They may be
	// absent.
	Protected []Place
	// Open are folders that stay as writable as their root and cannot be renamed: .git
	// where git may write.
	Open []Place
	// Masked exist.
	Masked []Place
	// Sockets exist.
	Sockets []Place
	// System is what every process needs: programs, libraries and a few settings.
	System []Link
	// Unsearched says that a guarded root was too large to be searched for
	// repositories below a certain depth.
	Unsearched []string
}

// A Place is a path as it was found on the host.
type Place struct {
	Path   string
	Mode   sandbox.Mode // for roots: what the profile says
	Kind   Kind
	Source string // why it is here
}

// A Kind is what was found at a path.
type Kind string

// The kinds.
const (
	KindFolder Kind = "folder"
	KindFile   Kind = "file"
	KindAbsent Kind = "absent"
	// KindAbsentFile is nothing, where a file is expected.
	KindAbsentFile Kind = "absent file"
)

// Missing reports whether nothing was found.
func (k Kind) Missing() bool { return k == KindAbsent || k == KindAbsentFile }

// A Link makes a part of the host's system visible: a folder or file by its own path, or
// a symbolic link with a target.
type Link struct {
	Path   string // where it is seen
	Source string // what of the host is seen there; empty for a symbolic link
	Target string // where a symbolic link leads
	Small  bool   // the source is a small file: a copy does as well
}

// A Layer is one place that differs from the one above it: what can be done there and in
// all that lies below, up to the next layer.
type Layer struct {
	Path string
	Mode sandbox.Mode
	Kind Kind
}

// Layers returns how the layout is laid out, parents before children. Where a place below a
// writable one must stay where it is, the folders between are layers too: the path to it
// cannot be renamed away and built anew.
func (s Layout) Layers() []Layer {
	layers := map[string]Layer{}
	for _, r := range s.Roots {
		if !s.hidden(r.Path) {
			layers[r.Path] = Layer{r.Path, min(r.Mode, s.ceiling(r.Path)), r.Kind}
		}
	}
	add := func(list []Place, mode sandbox.Mode) {
		for _, p := range list {
			if above := s.modeAbove(p.Path); (mode < above || above == sandbox.ModeReadWrite) && !s.hidden(p.Path) {
				layers[p.Path] = Layer{p.Path, mode, p.Kind}
			} // otherwise it is not there, or cannot be written anyway
		}
	}
	add(s.Open, sandbox.ModeReadWrite)
	add(s.Protected, sandbox.ModeReadOnly)
	add(s.Masked, sandbox.ModeHidden)
	for p := range layers {
		s.pin(layers, p)
	}
	return inOrder(layers)
}

// ceiling is the most that can be done at a path, whatever its root says.
func (s Layout) ceiling(file string) sandbox.Mode {
	within := func(p Place) bool { return sandbox.Below(p.Path, file) }
	switch {
	case slices.ContainsFunc(s.Masked, within):
		return sandbox.ModeHidden
	case slices.ContainsFunc(s.Protected, within):
		return sandbox.ModeReadOnly
	}
	return sandbox.ModeReadWrite
}

// hidden reports whether a path lies in a folder that is masked: there is nothing then.
func (s Layout) hidden(file string) bool {
	return slices.ContainsFunc(s.Masked, func(p Place) bool { return p.Path != file && sandbox.Below(p.Path, file) })
}

// modeAbove is the mode of the deepest root that holds the path.
func (s Layout) modeAbove(file string) sandbox.Mode {
	var root Place
	for _, r := range s.Roots {
		if sandbox.Below(r.Path, file) && len(r.Path) >= len(root.Path) {
			root = r
		}
	}
	return root.Mode
}

// pin adds the folders between a path and the layer above it, if they could be renamed.
func (s Layout) pin(layers map[string]Layer, file string) {
	for dir := path.Dir(file); s.modeAbove(dir) == sandbox.ModeReadWrite &&
		s.ceiling(dir) == sandbox.ModeReadWrite; dir = path.Dir(dir) {
		if _, known := layers[dir]; !known {
			layers[dir] = Layer{dir, sandbox.ModeReadWrite, KindFolder}
		}
	}
}

func inOrder(layers map[string]Layer) []Layer {
	out := make([]Layer, 0, len(layers))
	for _, l := range layers {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Layer) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path))
	})
	return out
}
