package roots

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A location is where a name leads on the host.
type location struct {
	abs   string
	steps []step // the folders from the root down to it, and it
}

// A step is a folder or file on the way to a location. Info is nil if there is
// none, or if it was not looked at.
type step struct {
	abs  string
	info fs.FileInfo
}

func (f *folder) location() location {
	return location{abs: f.real, steps: []step{{f.real, f.info}}}
}

// dir is the folder that the root's handle is open on.
func (f *folder) dir() string {
	if f.file != "" {
		return filepath.Dir(f.real)
	}
	return f.real
}

// is reports whether the step is the root itself, by name or by identity: on
// some file systems one folder has several spellings.
func (f *folder) is(st step) bool {
	return st.abs == f.real || st.info != nil && os.SameFile(st.info, f.info)
}

// owner returns the innermost root that holds the location, or nil.
func (s *Set) owner(loc location) *folder {
	for i := len(loc.steps) - 1; i >= 0; i-- {
		for _, f := range s.folders {
			if f.is(loc.steps[i]) {
				return f
			}
		}
	}
	var best *folder
	for _, f := range s.folders {
		if f.file == "" && below(f.real, loc.abs) && (best == nil || len(f.real) > len(best.real)) {
			best = f
		}
	}
	return best
}

// below reports whether abs is the folder or lies in it.
func below(folder, abs string) bool {
	return abs == folder || folder == "/" || strings.HasPrefix(abs, folder+"/")
}

// part returns the path of a location below the root, also where the way there
// spells the root differently. Not ok means that it does not lie in it.
func (f *folder) part(loc location) (rel string, ok bool) {
	for _, st := range loc.steps {
		if f.is(st) {
			return strings.TrimPrefix(strings.TrimPrefix(loc.abs, st.abs), "/"), true
		}
	}
	if !below(f.real, loc.abs) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(loc.abs, f.real), "/"), true
}

// virtual returns how the root calls what lies at rel in it. Not ok means that the
// name is that of another file: below the root named "." every other root hides
// what has its name.
func (s *Set) virtual(f *folder, rel string) (name string, ok bool) {
	name = path.Join(f.Name, rel)
	if f.Name != "." || rel == "" {
		return name, true
	}
	first, _, _ := strings.Cut(rel, "/")
	other := s.byName[first]
	return name, other == nil || other.real == join(f.real, first)
}

// called returns the name of what lies at rel in the folder of a root: that of the
// first of the folder's names that no other root hides; empty if there is none.
func (s *Set) called(names []*folder, rel string) string {
	for _, f := range names {
		if name, ok := s.virtual(f, rel); ok {
			return name
		}
	}
	return ""
}
