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

// called returns how the root calls a location that it owns, also where the way
// there spells the root differently.
func (f *folder) called(loc location) string {
	for _, st := range loc.steps {
		if f.is(st) {
			return path.Join(f.Name, strings.TrimPrefix(loc.abs, st.abs))
		}
	}
	return f.virtual(loc.abs)
}

// virtual returns how the root calls a path below it.
func (f *folder) virtual(abs string) string {
	rel := strings.TrimPrefix(strings.TrimPrefix(abs, f.real), "/")
	return path.Join(f.Name, rel)
}

// hosted returns the location as the root's configured host path spells it.
func (f *folder) hosted(abs string) string {
	return filepath.Join(f.host, strings.TrimPrefix(abs, f.real))
}
