package roots

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/policy"
)

// A Place is what a name means at the moment when it was resolved. Make one with
// [Set.Resolve], or with [Set.ResolveHost] for paths of the host.
type Place struct {
	set               *Set
	root              *folder // that holds it; nil outside
	name, rel         string
	by                *folder // that the name begins with, rest what follows; nil for a path outside
	rest              string
	written, resolved location

	host    bool   // named by an absolute path
	shown   string // that path, cleaned
	unknown bool   // what it turns out to be cannot be told

	// Info describes what lies there, after links; nil if nothing does.
	Info fs.FileInfo
}

// Name returns the name as it was written, cleaned: ROOT/REL, or an absolute path
// if no root has a name for it.
func (p Place) Name() string { return p.name }

// Names returns the name and all others that the roots of the same folder give it.
func (p Place) Names() []string {
	out := []string{p.name}
	if p.by == nil {
		return out
	}
	for _, f := range p.by.names {
		if name, ok := p.set.virtual(f, p.rest); ok && name != p.name {
			out = append(out, name)
		}
	}
	return out
}

// Common returns the name that stands for all [Place.Names]: it is the same,
// whichever of them was written.
func (p Place) Common() string {
	if p.by == nil {
		return p.name
	}
	return cmp.Or(p.set.called(p.by.names, p.rest), p.name)
}

// Resolved returns the name of what it turns out to be, in its innermost root; of
// several names of that root's folder the one that was written.
func (p Place) Resolved() string {
	f := p.set.owner(p.resolved)
	if f == nil {
		return p.resolved.abs
	}
	rel, _ := f.part(p.resolved)
	if !p.host && slices.Contains(f.names, p.by) {
		if name, ok := p.set.virtual(p.by, rel); ok {
			return name
		}
	}
	return cmp.Or(p.set.called(f.names, rel), p.resolved.abs)
}

// Handle returns an open root and the path below it that the name resolves to.
// The path has no links in it; whoever opens it follows none.
func (p Place) Handle() (root *os.Root, rel string) {
	if p.rel == "" {
		return p.root.handle, "."
	}
	return p.root.handle, p.rel
}

// Key is equal for two places exactly if they are the same file. It is a host
// path: keep it, never show it.
func (p Place) Key() string { return p.resolved.abs }

// locations returns what is judged: where the name points, and where it leads.
func (p *Place) locations() []location {
	if p.written.abs == p.resolved.abs {
		return []location{p.resolved}
	}
	return []location{p.written, p.resolved}
}

func (p *Place) last() step { return p.resolved.steps[len(p.resolved.steps)-1] }

// Target returns the place in every spelling, for rules to match. Names that lead
// to another file, because a root hides them, and those that the roots of a parent
// give it are for denies only.
func (p Place) Target() policy.Target {
	if p.unknown {
		return policy.UnknownTarget(policy.KindPath)
	}
	var also []string
	spell := func(to []string, f *folder, rel string) []string {
		if name, ok := p.set.virtual(f, rel); ok {
			to = append(to, name)
		} else {
			also = append(also, name)
		}
		return append(to, filepath.Join(f.host, rel))
	}
	written := append(make([]string, 0, 4), p.name)
	if p.host {
		written = append(written, p.shown)
	}
	if p.by != nil {
		for _, f := range p.by.names {
			written = spell(written, f, p.rest)
		}
	}
	resolved := append(make([]string, 0, 4), p.Resolved())
	for _, f := range p.set.folders {
		if rel, ok := f.part(p.resolved); ok {
			resolved = spell(resolved, f, rel)
		}
	}
	for s := p.set.parent; s != nil; s = s.parent {
		for _, f := range s.folders {
			for _, loc := range p.locations() {
				if rel, ok := f.part(loc); ok {
					also = append(also, path.Join(f.Name, rel), filepath.Join(f.host, rel))
				}
			}
		}
	}
	return policy.LinkTarget(written, append(resolved, p.resolved.abs)).KnownAs(also...)
}

// Act returns what an access to the file at this place is, ready to be judged.
func (p Place) Act(a Access) policy.Act { return p.act(a, false) }

// FolderAct is [Place.Act] for a folder, which needs no suffix.
func (p Place) FolderAct(a Access) policy.Act { return p.act(a, true) }

func (p Place) act(a Access, isFolder bool) policy.Act {
	j := p.set.judge(&p, a, isFolder)
	return policy.Act{
		Name: acts[a], Target: p.Target(), Known: !p.unknown,
		Verdict: j.verdict, Why: j.why, ByName: j.byName, Secret: j.secret, PersonOnly: j.personOnly,
	}
}

// OncePerSession reports whether the access asks only because of roots that say so
// once per session: a yes then holds for the session.
func (p Place) OncePerSession(a Access) bool {
	j := p.set.judge(&p, a, p.Info != nil && p.Info.IsDir())
	return j.verdict == policy.VerdictAsk && j.once
}

// Anchored reports that the place's root is no longer where it was: its folder
// was moved away or replaced, and what is opened from [Place.Handle] is not what
// the path of the root names now. The error is a [*Refusal].
func (p Place) Anchored() error {
	if p.root == nil {
		return refuse("%s is outside the roots", p.name)
	}
	return p.root.anchored()
}

// Fits reports why a file of this size may not lie at this place: an error that
// is a [*Refusal], or nil.
func (p Place) Fits(size int64) error {
	for s := p.set; s != nil; s = s.parent {
		for _, loc := range []location{p.written, p.resolved} {
			owner := s.owner(loc)
			if owner == nil {
				continue
			}
			for _, f := range owner.names {
				if f.MaxFileBytes > 0 && size > f.MaxFileBytes {
					return refuse("%s is too large: %d bytes, and root %s takes files of %d bytes at most", p.name,
						size, f.Name, f.MaxFileBytes)
				}
			}
		}
	}
	return nil
}

// Within reports whether the place lies in a folder, by the names of both, and by
// what they resolve to.
func (p Place) Within(folder Place) (written, resolved bool) {
	return below(folder.written.abs, p.written.abs), below(folder.resolved.abs, p.resolved.abs)
}

// Below returns the roots of the set that lie below the place, as places; each
// folder once.
func (p Place) Below() []Place {
	var out []Place
	for _, name := range p.set.Folders() {
		f := p.set.byName[name]
		if f.real == p.resolved.abs || !below(p.resolved.abs, f.real) {
			continue
		}
		if inner, err := p.set.Resolve(f.Name); err == nil {
			out = append(out, inner)
		}
	}
	return out
}

// Child returns the place of a name in the folder at this place, which is in a
// root. Where another root hides the name, it has another one of the folder's.
func (p Place) Child(rel string) (Place, error) {
	if p.by == nil {
		return Place{}, refuse("%s is outside the roots", p.name)
	}
	name := p.set.called(append([]*folder{p.by}, p.by.names...), path.Join(p.rest, filepath.ToSlash(rel)))
	if name == "" {
		return Place{}, refuse("%s in %s cannot be named: a root has this name; rename the root", rel, p.name)
	}
	child, err := p.set.Resolve(name)
	if err != nil {
		return Place{}, fmt.Errorf("%s: %w", p.name, err)
	}
	return child, nil
}

// Protected reports whether no tool may change what lies there, whatever the root says: .git,
// .assent and assent's own files.
func (p Place) Protected() bool {
	for s := p.set; s != nil; s = s.parent {
		for _, loc := range p.locations() {
			if s.guards(fold(loc.abs), loc.steps, AccessWrite) {
				return true
			}
		}
	}
	return false
}

// RootPath is the absolute path of the root that holds the place; empty outside of all roots.
func (p Place) RootPath() string {
	if p.root == nil {
		return ""
	}
	return p.root.real
}
