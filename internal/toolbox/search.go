package toolbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/home"
	"github.com/assent-dev/assent/policy"
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

// Hide returns the profile with secrets hidden as well. An npmrc that only says where packages
// come from is none.
func (f Found) Hide(p sandbox.Profile) sandbox.Profile {
	p.Masked = slices.Clone(p.Masked)
	for _, e := range f.Secrets {
		if !home.NpmSettings(e.Path) {
			p.Masked = append(p.Masked, e)
		}
	}
	return p
}

// Search looks through the roots, and the folders that commands see besides, for what the
// rules deny and, if they are wanted, for secrets.
func Search(set *roots.Set, rules []policy.Rule, secrets bool, besides ...string) (Found, error) {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r policy.Rule) bool { return r.Effect == policy.EffectAllow })
	for i := range rules {
		rules[i].Project = "" // they are those that hold here
	}
	compiled, err := policy.CompileRules(rules)
	if err != nil {
		return Found{}, err
	}
	s := &search{set: set, rules: compiled, secrets: secrets, now: time.Now()}
	for _, r := range rules {
		changes := aboutFiles(r, policy.ActWriteFile, policy.ActDeleteFile)
		if changes {
			// What is not there yet cannot be protected.
			s.found.GateOnly = append(s.found.GateOnly, sandbox.Entry{Path: r.String(), Source: r.Source})
		}
		s.denies = s.denies || changes || aboutFiles(r, policy.ActReadFile)
	}
	if !s.denies && !secrets {
		return s.found, nil
	}
	folders, err := searched(set, besides)
	if err != nil {
		return Found{}, err
	}
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, s.visit); errors.Is(err, errUnfinished) {
			s.found.Unfinished = err.Error()
			break
		} else if err != nil {
			return Found{}, fmt.Errorf("looking for denied files: %w", err)
		}
	}
	return s.found, nil
}

// searched are the folders to look through: the roots, and what lies besides them.
func searched(set *roots.Set, besides []string) ([]string, error) {
	var out []string
	for _, r := range set.Roots() {
		real, err := filepath.EvalSymlinks(r.Host)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, real) { // a folder may have several names
			out = append(out, real)
		}
	}
	for _, b := range besides {
		if !slices.ContainsFunc(out, func(folder string) bool { return sandbox.Below(folder, b) }) {
			out = append(out, b)
		}
	}
	return out, nil
}

// aboutFiles reports whether a rule may deny one of these acts on some file. Names in rules
// are globs, so the rule itself is asked.
func aboutFiles(r policy.Rule, names ...string) bool {
	if r.Effect != policy.EffectDeny {
		return false
	}
	r.Project = ""
	alone, err := policy.CompileRules([]policy.Rule{r})
	if err != nil {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		act := policy.Act{Name: name, Target: policy.UnknownTarget(policy.KindPath)}
		meets, _ := policy.Policy{Fixed: alone}.Denies(policy.Call{}, act, time.Now())
		return meets != policy.MatchNo
	})
}

// HeldByGate reports whether a deny is about something that no sandbox knows of.
func HeldByGate(r policy.Rule) bool {
	return !aboutFiles(r, policy.ActReadFile) || aboutFiles(r, policy.ActWriteFile, policy.ActDeleteFile)
}

type search struct {
	set     *roots.Set
	rules   *policy.RuleSet
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
	case errors.Is(err, fs.ErrPermission), err == nil && closed(path, d):
		s.hide(path, "its content is unknown before it runs")
		return fs.SkipDir // a command could open it: its owner changes its mode
	case errors.Is(err, fs.ErrNotExist):
		return nil // it went away
	case err != nil:
		return err
	case d.Type()&fs.ModeSymlink != 0:
		return nil // what it leads to is judged itself, or not there
	}
	if s.looked++; s.looked > maxSearched {
		return fmt.Errorf("%w: there are more than %d files in the roots; name smaller ones",
			errUnfinished, maxSearched)
	}
	hidden := s.judge(path, d.IsDir())
	if n := len(s.found.Masked) + len(s.found.Protected) + len(s.found.Secrets); n > maxFound {
		return fmt.Errorf("%w: there are more than %d of them; deny their folder", errUnfinished, maxFound)
	}
	if hidden && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// closed reports whether a folder lets nobody reach what is in it.
func closed(path string, d fs.DirEntry) bool {
	if !d.IsDir() {
		return false
	}
	_, err := os.Lstat(path + "/.")
	return errors.Is(err, fs.ErrPermission)
}

// hide keeps something that cannot be judged from commands.
func (s *search) hide(path, why string) {
	e := sandbox.Entry{Path: path, Source: why}
	if s.denies {
		s.found.Masked = append(s.found.Masked, e)
	} else {
		s.found.Secrets = append(s.found.Secrets, e)
	}
}

// judge keeps what is denied or secret, and reports whether it is to be hidden whole.
func (s *search) judge(path string, folder bool) (hidden bool) {
	// No tool can use a name that is not UTF-8, but a command can.
	place, _, err := s.set.ResolveHost(strings.ToValidUTF8(path, "\uFFFD"))
	if err != nil {
		s.hide(path, err.Error())
		return true
	}
	act := place.Act
	if folder {
		act = place.FolderAct
	}
	read := act(roots.AccessRead)
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
func (s *search) protect(path string, act func(roots.Access) policy.Act) {
	if slices.ContainsFunc(s.found.Protected, func(e sandbox.Entry) bool { return sandbox.Below(e.Path, path) }) {
		return
	}
	for _, a := range []roots.Access{roots.AccessWrite, roots.AccessDelete} {
		if source, denied := s.denied(act(a)); denied {
			s.found.Protected = append(s.found.Protected, sandbox.Entry{Path: path, Source: source})
			return
		}
	}
}

// denied reports which rule denies an act.
func (s *search) denied(act policy.Act) (source string, denied bool) {
	if !s.denies {
		return "", false
	}
	meets, rule := policy.Policy{Fixed: s.rules}.Denies(policy.Call{}, act, s.now)
	if meets != policy.MatchYes {
		return "", false
	}
	return rule.Source, true
}
