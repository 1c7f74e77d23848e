package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/roots"
)

// How many files are looked at to find those that are denied, and how many of them a
// sandbox can hide: each is a mount. Beyond that nothing runs.
const (
	maxSearched = 200_000
	maxDenied   = 500
)

// deniedFiles are the files and folders in the roots that a rule of the policy denies to
// be read, as far as they exist now. A command must not see them either.
func deniedFiles(policy *config.Policy) ([]sandbox.Entry, error) {
	if !deniesReading(policy.Rules.Rules()) {
		return nil, nil
	}
	set, err := roots.New(roots.Options{Secrets: []string{}}, policy.Roots...)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	s := &deniedSearch{set: set, rules: policy.Rules, now: time.Now()}
	for _, r := range policy.Roots {
		real, err := resolveExisting(r.Host)
		if err != nil {
			return nil, err
		}
		if err := filepath.WalkDir(real, s.visit); err != nil {
			return nil, fmt.Errorf("looking for denied files: %w", err)
		}
	}
	return s.found, nil
}

func deniesReading(rules []approval.Rule) bool {
	for _, r := range rules {
		if r.Effect == approval.Deny && !heldByGate(r) {
			return true
		}
	}
	return false
}

// heldByGate reports whether a deny is about something else than reading files: what that
// is, a sandbox does not know.
func heldByGate(r approval.Rule) bool {
	name, _, _ := strings.Cut(r.Pattern, "(")
	return !strings.EqualFold(name, approval.ReadFile)
}

type deniedSearch struct {
	set    *roots.Set
	rules  *approval.RuleSet
	now    time.Time
	looked int
	found  []sandbox.Entry
}

// visit judges one file or folder. What is denied is not looked into.
func (s *deniedSearch) visit(path string, d fs.DirEntry, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fs.SkipDir // nor can a command look into it
	case err != nil:
		return err
	case d.Type()&fs.ModeSymlink != 0:
		return nil // what it leads to is judged itself, or not there
	}
	if s.looked++; s.looked > maxSearched {
		return fmt.Errorf("there are more than %d files in the roots; name smaller roots", maxSearched)
	}
	place, _, err := s.set.ResolveHost(path)
	if err != nil {
		return err
	}
	act := place.Act(roots.Read)
	if d.IsDir() {
		act = place.FolderAct(roots.Read)
	}
	rule := s.denied(act)
	if rule == nil {
		return nil
	}
	if s.found = append(s.found, sandbox.Entry{Path: path, Source: rule.Source}); len(s.found) > maxDenied {
		return fmt.Errorf("a rule denies more than %d files (%s); deny their folder", maxDenied, rule.Source)
	}
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (s *deniedSearch) denied(act approval.Act) *approval.Rule {
	act.Verdict = approval.Free // only the rules are asked
	p := approval.Policy{Fixed: s.rules}
	j := p.Judge(approval.Question{Call: &approval.Call{Tool: act.Name}, Proposal: &approval.Proposal{Acts: []approval.Act{act}}, Now: s.now})
	if j.State != approval.AutoDenied {
		return nil
	}
	return j.Rule
}
