package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// A Level says how much a finding matters.
type Level string

// The levels.
const (
	Error   Level = "error"   // the file is refused
	Warning Level = "warning" // it is taken, and probably not what was meant
)

// A Finding is something about a file that its author should know.
type Finding struct {
	Level  Level  `json:"level"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"`
}

func (f Finding) String() string {
	place := f.File + ":" + strconv.Itoa(f.Line)
	if f.Column > 0 {
		place += ":" + strconv.Itoa(f.Column)
	}
	return fmt.Sprintf("%s: %s: %s", place, f.Level, f.Text)
}

// File checks a file; an empty kind is found out. Below is what holds besides any file: the
// administrator's word. Setting is that of the machine, for what commands may reach. Reserved are the acts that people of
// the machine's team decide about; the source of a team's policy has its own. The findings are in the order of the file.
// The error says that the file could not be read, or its tools not be looked at.
func File(ctx context.Context, path string, kind config.Kind, below []config.Tier, setting config.Setting,
	reserved ...policy.Reservation) ([]Finding, error) {
	f, err := config.Read(path, kind)
	var problems config.Problems
	if errors.As(err, &problems) {
		return found(Error, problems), nil
	}
	if err != nil {
		return nil, err
	}
	below = slices.DeleteFunc(slices.Clone(below), func(t config.Tier) bool {
		return t.Policy.File == f.Policy.File || f.Team != nil && t.Kind == config.TeamTier // which it is to replace
	})
	all, err := config.Combine(setting.Resolve, append(below, config.Tier{Kind: config.Operator, Policy: f.Policy})...)
	if err != nil {
		return nil, err
	}
	l := &look{file: f, policy: all.Policy, setting: setting, reservations: reserved}
	if f.Team != nil {
		l.reservations = ofSource(f.Team.Deciders)
	}
	if l.reserved, err = policy.Reserve(config.Ground(), l.reservations); err != nil {
		return nil, err
	}
	if l.roots, err = l.policy.Strictest(setting.Resolve); err != nil {
		return nil, err
	}
	l.findings = slices.DeleteFunc(slices.Concat(found(Warning, l.policy.Warnings), found(Warning, l.policy.Notes)),
		func(o Finding) bool { return o.File != f.Policy.File })
	l.hidden()
	l.decided()
	l.missing()
	l.writeThenRun()
	l.gitWrites()
	l.customTools()
	if f.Worker != nil {
		l.worker(f.Worker)
	}
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.findings, func(a, b Finding) int { return a.Line - b.Line })
	return l.findings, nil
}

func found(level Level, problems []config.Problem) []Finding {
	var out []Finding
	for _, p := range problems {
		out = append(out, Finding{level, p.File, p.Line, p.Column, p.Text})
	}
	return out
}

// A look at a file that is under way.
type look struct {
	file    *config.File
	policy  *config.Policy // of the file alone
	roots   []roots.Root   // of the policy, with what holds in each
	setting config.Setting
	// reservations are what people of a team decide about, and reserved the same.
	reservations []policy.Reservation
	reserved     *policy.Reserved
	findings     []Finding
}

// warn notes a finding at a FILE:LINE, fail one for which the file is refused.
func (l *look) warn(source, format string, args ...any) {
	l.findings = append(l.findings, found(Warning, []config.Problem{config.ProblemAt(source, format, args...)})...)
}

func (l *look) fail(source, format string, args ...any) {
	l.findings = append(l.findings, found(Error, []config.Problem{config.ProblemAt(source, format, args...)})...)
}

// missing warns of folders that are not there and that nobody makes.
func (l *look) missing() {
	made := l.policy.MissingRoots()
	for _, r := range l.policy.Roots {
		is := func(m roots.Root) bool { return m.Name == r.Name }
		if _, err := os.Stat(r.Host); err != nil && !slices.ContainsFunc(made, is) {
			l.warn(r.Source, "root %q: %v; a run would end with this", r.Name, err)
		}
	}
}

// worker looks at what a worker says besides its policy.
func (l *look) worker(w *config.Worker) {
	if w.Instructions == "" {
		l.warn(w.File, "the worker has no instructions")
	}
	known := config.BuiltinTools()
	for _, t := range w.CustomTools {
		known = append(known, t.Name)
	}
	for _, name := range w.Manual {
		if !slices.Contains(known, name) && !strings.Contains(name, ":") {
			l.warn(w.File, "manual: no tool is named %q%s", name, config.DidYouMean(name, known))
		}
	}
}
