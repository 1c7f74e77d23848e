package roots

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/assent-dev/assent/policy"
)

// ResolveHost says what an absolute path of the host means, as a command names
// it: which root it is in, if any, and what it turns out to be when links are
// followed. It opens no file. The error is a [*Refusal].
//
// A path is inside if what it turns out to be lies in a root; the innermost root
// holds it, as with [Set.Resolve]. A link in a root that leads out is outside.
// [Place.Act] is right for both. A place outside has its paths for names, and no
// [Place.Handle]. Where a folder has several names, a path goes by the first that
// is not "."; where another root hides the name, by itself.
func (s *Set) ResolveHost(abs string) (p Place, inside bool, err error) {
	switch {
	case !filepath.IsAbs(abs):
		return Place{}, false, refuse("%q is not an absolute path", abs)
	case len(abs) > maxName, !utf8.ValidString(abs), strings.ContainsRune(abs, 0):
		return Place{}, false, refuse("invalid path %q: it is too long, has a NUL or is not UTF-8", abs)
	}
	p = s.outside(path.Clean(abs), path.Clean(abs))
	if f, rel := s.spelled(p.written.abs); f != nil {
		p.by, p.rest = f, rel
		p.written = plainLocation(path.Join(f.real, rel))
		p.resolved, p.name = p.written, cmp.Or(s.called(f.names, rel), p.shown)
	}
	w := walk{on: host{}, steps: []step{{"/", s.top}}, todo: strings.Split(abs, "/")}
	resolved, err := w.run()
	switch {
	case errors.Is(err, errLoop):
		return Place{}, false, refuse("%s: %v", abs, err)
	case errors.Is(err, errNotFolder):
		return p, false, nil // nothing can be there, whoever looks
	case err != nil:
		p.unknown = true
		return p, false, nil
	}
	p.resolved, p.Info = resolved, w.last().info
	p.root, p.rel = s.holder(p.resolved)
	return p, p.root != nil, nil
}

// OutsideAct returns an access to a file that is in no root, by its absolute
// path as it is written, cleaned, and by what that resolves to. It asks, and is
// answered by its own name only; what holds for every file holds for it too:
// secrets, what is protected, what only a person may delete.
func (s *Set) OutsideAct(a Access, written, resolved string) policy.Act {
	return s.outside(path.Clean(written), path.Clean(resolved)).Act(a)
}

// outside returns the place of absolute paths that no root is known to hold.
func (s *Set) outside(written, resolved string) Place {
	return Place{set: s, host: true, name: written, shown: written, written: plainLocation(written),
		resolved: plainLocation(resolved)}
}

func plainLocation(abs string) location { return location{abs: abs, steps: []step{{abs: abs}}} }

// spelled returns the innermost root that an absolute path names, and the path
// below it.
func (s *Set) spelled(abs string) (best *folder, rel string) {
	longest := -1
	for _, f := range s.folders {
		if r, ok := f.inside(abs); ok && (f.file == "" || r == "") && len(abs)-len(r) > longest {
			best, rel, longest = f, strings.TrimPrefix(r, "/"), len(abs)-len(r)
		}
	}
	return best, rel
}

// holder returns the root that a location is opened from, and the path below its
// handle. A further name of a single file is not in its root.
func (s *Set) holder(loc location) (*folder, string) {
	f := s.owner(loc)
	switch {
	case f == nil:
		return nil, ""
	case f.file != "" && loc.abs != f.real:
		return nil, ""
	case f.file != "":
		return f, f.file
	}
	rel, _ := f.part(loc)
	return f, rel
}

// The host is the ground of absolute paths.
type host struct{}

var _ ground = host{}

// errVaries says that a link means another file to another process.
var errVaries = errors.New("it depends on the process that follows it")

func (host) lstat(abs string) (fs.FileInfo, error) {
	if abs == "/proc/self" || abs == "/proc/thread-self" {
		return os.Stat(abs) // the name says more than our own number
	}
	return os.Lstat(abs)
}

// readlink does not follow what lies below a process: its folder, its root and
// its files are not those of the process that will use the path.
func (host) readlink(abs string) (string, error) {
	if strings.HasPrefix(abs, "/proc/") && strings.Count(abs, "/") > 2 {
		return "", errVaries
	}
	return os.Readlink(abs)
}

func (host) enter(target string) (string, error) { return target, nil }

// above keeps `..` at the top where it is.
func (host) above() error { return nil }

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
