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
		return Place{}, false, refuse("%q is no path: it is too long, has a NUL or is not UTF-8", abs)
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
	return Place{set: s, host: true, name: written, shown: written, written: plainLocation(written), resolved: plainLocation(resolved)}
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
