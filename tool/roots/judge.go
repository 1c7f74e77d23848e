package roots

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/policy"
)

// A judgement is the word on one access. The zero judgement blocks.
type judgement struct {
	verdict    policy.Verdict
	why        string
	byName     bool
	secret     bool
	personOnly bool
	once       bool // a yes to it may hold for the session
}

func block(format string, args ...any) judgement {
	return judgement{why: fmt.Sprintf(format, args...)}
}

// free is the judgement that leaves the word to others.
var free = judgement{verdict: policy.VerdictFree}

// and returns the stricter of two; at a tie the first gives the reason.
func (j judgement) and(o judgement) judgement {
	out := j
	if o.verdict < j.verdict {
		out = o
	}
	if o.verdict == j.verdict {
		out.once = j.once && o.once
	}
	out.secret = j.secret || o.secret
	out.byName, out.personOnly = j.byName || o.byName, j.personOnly || o.personOnly
	return out
}

// judge is the strictest of everything that is said about the access.
func (s *Set) judge(p *Place, a Access, isFolder bool) judgement {
	j := s.special(p, a, isFolder)
	for _, loc := range p.locations() {
		j = j.and(s.granted(p, loc, a, isFolder))
	}
	if s.parent != nil {
		j = j.and(s.parent.judge(p, a, isFolder))
	}
	return j
}

// special is what holds whatever the root says.
func (s *Set) special(p *Place, a Access, isFolder bool) judgement {
	j := free
	for _, loc := range p.locations() {
		abs := fold(loc.abs)
		if a != AccessRead && s.guards(abs, loc.steps, a) {
			return block("%s is protected: no tool changes .git, .assent or assent's own files", p.name)
		}
		if s.secrets.match(abs) {
			j = j.and(judgement{verdict: policy.VerdictAsk, byName: true, secret: true, why: p.name +
				" looks like a secret"})
		}
	}
	if a != AccessRead && s.vital(p, a) {
		j = j.and(judgement{verdict: policy.VerdictAsk, personOnly: true, why: p.name +
			" is a root, the home folder or assent's own, or holds one"})
	}
	if p.unknown {
		j = j.and(judgement{verdict: policy.VerdictAsk, personOnly: true, why: "it is unknown what " + p.name + " is"})
	}
	if a != AccessRead && !isFolder && p.Info != nil && p.Info.Mode().IsRegular() {
		j = j.and(ofFile(p))
	}
	return j
}

// ofFile is what the file itself says about being changed or deleted.
func ofFile(p *Place) judgement {
	j := free
	if links(p.Info) > 1 {
		j = j.and(judgement{verdict: policy.VerdictAsk, byName: true, why: p.name +
			" has further names (hard links), perhaps elsewhere"})
	}
	if p.Info.Mode().Perm()&0o222 == 0 {
		j = j.and(judgement{verdict: policy.VerdictAsk, byName: true, why: p.name + " is marked read-only by its mode"})
	}
	return j
}

// LooksSecret reports whether an absolute path is named like a secret, whatever lies there.
func (s *Set) LooksSecret(abs string) bool {
	for ; s != nil; s = s.parent {
		if s.secrets.match(fold(abs)) {
			return true
		}
	}
	return false
}

// granted is the word of the root that holds the location, the strictest if the
// root's folder has several names.
func (s *Set) granted(p *Place, loc location, a Access, isFolder bool) judgement {
	owner := s.owner(loc)
	switch {
	case owner == nil && p.host:
		return judgement{verdict: policy.VerdictAsk, byName: true, why: p.shown + " is outside the roots"}
	case owner == nil:
		return block("%s is outside of what may be reached", p.name)
	}
	j := owner.names[0].says(p, loc, a, isFolder)
	for _, f := range owner.names[1:] {
		j = j.and(f.says(p, loc, a, isFolder))
	}
	return j
}

// says is the word of one root on a location that it holds.
func (f *folder) says(p *Place, loc location, a Access, isFolder bool) judgement {
	switch {
	case a != AccessRead && f.Mode != ModeReadWrite && len(f.names) > 1 && f.Source != "":
		return block("%s cannot be changed: root %s, the same folder, is read-only (mode ro at %s)", p.name,
			f.Name, f.Source)
	case a != AccessRead && f.Mode != ModeReadWrite:
		return block("%s cannot be changed: root %s is read-only (mode ro)", p.name, f.Name)
	case isFolder && a != AccessRead && f.file != "":
		return block("%s is a single file, and not a folder", f.Name)
	case !isFolder && !f.fits(filepath.Base(loc.abs)):
		return block("%s has the wrong suffix %q: root %s takes %v", p.name, filepath.Ext(loc.abs), f.Name, f.Suffixes)
	}
	v, why := f.word(a)
	if v == policy.VerdictBlock {
		why = fmt.Sprintf("%s: %s", p.name, why)
	}
	return judgement{verdict: v, why: why, once: slices.Contains(f.Once, a)}
}

// vital reports whether the place is, or is a folder above, what everything else
// lies in: a root, the home folder, assent's own files.
func (s *Set) vital(p *Place, a Access) bool {
	for _, loc := range p.locations() {
		above := func(own string) bool { return below(loc.abs, own) }
		holds := func(o protected) bool { return o.liesIn(fold(loc.abs)) }
		if slices.ContainsFunc(s.home, above) || slices.ContainsFunc(s.protected, holds) {
			return true
		}
	}
	return s.holdsRoot(p, a)
}

// holdsRoot reports whether the place is a root or a folder above one. Writing
// the content of a single file that is a root leaves the root where it is.
func (s *Set) holdsRoot(p *Place, a Access) bool {
	for _, f := range s.folders {
		if a == AccessWrite && f.file != "" && f.is(p.last()) {
			continue
		}
		if f.is(p.last()) || below(p.resolved.abs, f.real) || p.host && below(p.shown, f.host) {
			return true
		}
	}
	return false
}

// protectedNames are folders that no tool changes, wherever they lie.
var protectedNames = []string{".git", ".assent"}

// A protected place is one that the program itself needs whole.
type protected struct {
	paths []string // as given and with links resolved, folded
	info  fs.FileInfo
}

func protectAll(paths []string) ([]protected, error) {
	var out []protected
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, fmt.Errorf("protected path %q: %w", p, err)
		}
		real, _ := realpath.Resolve(abs) // as far as it leads
		item := protected{paths: []string{fold(abs), fold(real)}}
		if info, err := os.Stat(abs); err == nil {
			item.info = info
		}
		out = append(out, item)
	}
	return out, nil
}

// guards reports whether a location, by its folded path and the steps to it, is
// protected from an access that changes it.
func (s *Set) guards(abs string, steps []step, a Access) bool {
	for element := range strings.SplitSeq(abs, "/") {
		if slices.Contains(protectedNames, element) {
			return true
		}
	}
	if slices.ContainsFunc(s.names, func(name string) bool {
		return strings.HasSuffix(abs+"/", strings.TrimSuffix(name, "/")+"/") ||
			strings.HasSuffix(name, "/") && strings.Contains(abs, name)
	}) {
		return true
	}
	for _, p := range s.protected {
		if p.holds(abs, steps) || a == AccessDelete && p.liesIn(abs) {
			return true
		}
	}
	return false
}

func (p protected) holds(abs string, steps []step) bool {
	if slices.ContainsFunc(p.paths, func(own string) bool { return below(own, abs) }) {
		return true
	}
	return p.info != nil && slices.ContainsFunc(steps, func(st step) bool {
		return st.info != nil && os.SameFile(st.info, p.info)
	})
}

func (p protected) liesIn(abs string) bool {
	return slices.ContainsFunc(p.paths, func(own string) bool { return below(abs, own) })
}

// fold makes spellings equal that some file system takes for the same name:
// upper and lower case, characters that take no space, stream names after a
// colon, dots and spaces at the end.
func fold(abs string) string {
	abs = strings.ToLower(strings.Map(visible, abs))
	if !strings.ContainsAny(abs, ". :") {
		return abs
	}
	elements := strings.Split(abs, "/")
	for i, e := range elements {
		if name, _, stream := strings.Cut(e, ":"); stream && name != "" {
			e = name
		}
		if trimmed := strings.TrimRight(e, ". "); trimmed != "" {
			e = trimmed
		}
		elements[i] = e
	}
	return strings.Join(elements, "/")
}

// visible drops the characters that HFS+ ignores in names.
func visible(r rune) rune {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2064,
		r >= 0x206a && r <= 0x206f, r == 0xfeff, r == 0x00ad, r == 0x034f:
		return -1
	}
	return r
}
