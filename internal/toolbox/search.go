package toolbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/roots"
)

// How many files are looked at to find those that are denied or secret, and how many a
// sandbox can hide or protect: each is a mount.
const (
	maxSearched = 200_000
	maxFound    = 500
)

// Found is what rules deny, and what looks like a secret, among the files of the roots as
// they are now. A command must not reach them either, whatever it is told.
type Found struct {
	// Masked may not be read, Protected not be changed.
	Masked, Protected []sandbox.Entry
	// Secrets ask even where reads are free.
	Secrets []sandbox.Entry
	// GateOnly are the denies about files that no sandbox holds, as rules.
	GateOnly []sandbox.Entry
	// Unfinished says why not all of them were found; empty if they were.
	Unfinished string
}

// Apply returns the profile with what rules deny.
func (f Found) Apply(p sandbox.Profile) sandbox.Profile {
	p.Masked = slices.Concat(p.Masked, f.Masked)
	p.Protected = slices.Concat(p.Protected, f.Protected)
	return p
}

// Hide returns the profile with secrets hidden as well.
func (f Found) Hide(p sandbox.Profile) sandbox.Profile {
	p.Masked = slices.Concat(p.Masked, f.Secrets)
	return p
}

// Search looks through the roots for what the rules deny and, if they are wanted, for
// secrets.
func Search(set *roots.Set, rules []approval.Rule, secrets bool) (Found, error) {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r approval.Rule) bool { return r.Effect == approval.Allow })
	compiled, err := approval.CompileRules(rules)
	if err != nil {
		return Found{}, err
	}
	s := &search{set: set, rules: compiled, secrets: secrets, now: time.Now()}
	for _, r := range rules {
		if r.Effect == approval.Deny && !aboutFiles(r, approval.ReadFile) && aboutFiles(r, approval.WriteFile, approval.DeleteFile) {
			// What is not there yet cannot be protected.
			s.found.GateOnly = append(s.found.GateOnly, sandbox.Entry{Path: r.String(), Source: r.Source})
		}
		s.denies = s.denies || r.Effect == approval.Deny && aboutFiles(r, approval.ReadFile, approval.WriteFile, approval.DeleteFile)
	}
	if !s.denies && !secrets {
		return s.found, nil
	}
	for _, r := range set.Roots() {
		real, err := filepath.EvalSymlinks(r.Host)
		if err != nil {
			return Found{}, err
		}
		if err := filepath.WalkDir(real, s.visit); errors.Is(err, errUnfinished) {
			s.found.Unfinished = err.Error()
			break
		} else if err != nil {
			return Found{}, fmt.Errorf("looking for denied files: %w", err)
		}
	}
	return s.found, nil
}

// aboutFiles reports whether a rule names one of these acts.
func aboutFiles(r approval.Rule, names ...string) bool {
	name, _, _ := strings.Cut(r.Pattern, "(")
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// HeldByGate reports whether a deny is about something that no sandbox knows of.
func HeldByGate(r approval.Rule) bool { return !aboutFiles(r, approval.ReadFile) }

type search struct {
	set     *roots.Set
	rules   *approval.RuleSet
	denies  bool // a rule denies something about files
	secrets bool // they are wanted too
	now     time.Time
	looked  int
	found   Found
}

var errUnfinished = errors.New("not every file that a rule denies is hidden from commands")

// visit judges one file or folder. What is denied is not looked into.
func (s *search) visit(path string, d fs.DirEntry, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fs.SkipDir // nor can a command look into it
	case errors.Is(err, fs.ErrNotExist):
		return nil // it went away
	case err != nil:
		return err
	case d.Type()&fs.ModeSymlink != 0:
		return nil // what it leads to is judged itself, or not there
	}
	if s.looked++; s.looked > maxSearched {
		return fmt.Errorf("%w: there are more than %d files in the roots; name smaller ones", errUnfinished, maxSearched)
	}
	place, _, err := s.set.ResolveHost(path)
	if err != nil {
		return nil // no tool can name it either
	}
	hidden := s.judge(path, place, d.IsDir())
	if n := len(s.found.Masked) + len(s.found.Protected) + len(s.found.Secrets); n > maxFound {
		return fmt.Errorf("%w: there are more than %d of them; deny their folder", errUnfinished, maxFound)
	}
	if hidden && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// judge keeps what is denied or secret, and reports whether it is to be hidden whole.
func (s *search) judge(path string, place roots.Place, folder bool) (hidden bool) {
	act := place.Act
	if folder {
		act = place.FolderAct
	}
	read := act(roots.Read)
	if source, denied := s.denied(read); denied {
		s.found.Masked = append(s.found.Masked, sandbox.Entry{Path: path, Source: source})
		return true
	}
	s.protect(path, act)
	if read.Secret && s.secrets {
		s.found.Secrets = append(s.found.Secrets, sandbox.Entry{Path: path, Source: "it looks like a secret"})
	}
	return read.Secret && s.secrets
}

// protect keeps what may not be changed, unless it lies in a folder that is kept already.
func (s *search) protect(path string, act func(roots.Access) approval.Act) {
	if slices.ContainsFunc(s.found.Protected, func(e sandbox.Entry) bool { return sandbox.Below(e.Path, path) }) {
		return
	}
	for _, a := range []roots.Access{roots.Write, roots.Delete} {
		if source, denied := s.denied(act(a)); denied {
			s.found.Protected = append(s.found.Protected, sandbox.Entry{Path: path, Source: source})
			return
		}
	}
}

// denied reports which rule denies an act.
func (s *search) denied(act approval.Act) (source string, denied bool) {
	if !s.denies {
		return "", false
	}
	act.Verdict = approval.Free // only the rules are asked
	p := approval.Policy{Fixed: s.rules}
	j := p.Judge(approval.Question{Call: &approval.Call{Tool: act.Name}, Proposal: &approval.Proposal{Acts: []approval.Act{act}}, Now: s.now})
	if j.State != approval.AutoDenied {
		return "", false
	}
	return j.Rule.Source, true
}
