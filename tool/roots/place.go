package roots

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
)

// A Place is what a name means at the moment when it was resolved. Make one with
// [Set.Resolve], or with [Set.ResolveHost] for paths of the host.
type Place struct {
	set               *Set
	root              *folder // that holds it; nil outside
	name, rel         string
	written, resolved location

	host    bool   // named by an absolute path
	shown   string // that path, cleaned
	unknown bool   // what it turns out to be cannot be told

	// Info describes what lies there, after links; nil if nothing does.
	Info fs.FileInfo
}

// Name returns the name as it was written, cleaned: ROOT/REL, or an absolute path
// outside the roots.
func (p Place) Name() string { return p.name }

// Resolved returns the name of what it turns out to be, in its innermost root.
func (p Place) Resolved() string {
	if f := p.set.owner(p.resolved); f != nil {
		return f.called(p.resolved)
	}
	return p.resolved.abs
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

// Target returns the place in every spelling, for rules to match.
func (p Place) Target() approval.Target {
	if p.unknown {
		return approval.UnknownTarget(approval.Path)
	}
	written := []string{p.name, p.shown}
	if !p.host {
		written[1] = p.root.hosted(p.written.abs)
	}
	var resolved []string
	if f := p.set.owner(p.resolved); f != nil {
		resolved = append(resolved, f.called(p.resolved))
	}
	for _, f := range p.set.folders {
		if below(f.real, p.resolved.abs) {
			resolved = append(resolved, f.virtual(p.resolved.abs), f.hosted(p.resolved.abs))
		}
	}
	return approval.LinkTarget(written, append(resolved, p.resolved.abs))
}

// Act returns what an access to the file at this place is, ready to be judged.
func (p Place) Act(a Access) approval.Act { return p.act(a, false) }

// FolderAct is [Place.Act] for a folder, which needs no suffix.
func (p Place) FolderAct(a Access) approval.Act { return p.act(a, true) }

func (p Place) act(a Access, isFolder bool) approval.Act {
	j := p.set.judge(&p, a, isFolder)
	return approval.Act{
		Name: acts[a], Target: p.Target(), Known: !p.unknown,
		Verdict: j.verdict, Why: j.why, ByName: j.byName, Secret: j.secret, PersonOnly: j.personOnly,
	}
}

// OncePerSession reports whether the access asks only because of roots that say so
// once per session: a yes then holds for the session.
func (p Place) OncePerSession(a Access) bool {
	j := p.set.judge(&p, a, p.Info != nil && p.Info.IsDir())
	return j.verdict == approval.Ask && j.once
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
			f := s.owner(loc)
			if f != nil && f.MaxFileBytes > 0 && size > f.MaxFileBytes {
				return refuse("%s is too large: %d bytes, and root %s takes files of %d bytes at most", p.name, size, f.Name, f.MaxFileBytes)
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

// Below returns the roots of the set that lie below the place, as places.
func (p Place) Below() []Place {
	var out []Place
	for _, f := range p.set.folders {
		if f.real == p.resolved.abs || !below(p.resolved.abs, f.real) {
			continue
		}
		if inner, err := p.set.Resolve(f.Name); err == nil {
			out = append(out, inner)
		}
	}
	return out
}

// Child returns the place of a name in the folder at this place.
func (p Place) Child(rel string) (Place, error) {
	child, err := p.set.Resolve(p.name + "/" + filepath.ToSlash(rel))
	if err != nil {
		return Place{}, fmt.Errorf("%s: %w", p.name, err)
	}
	return child, nil
}
