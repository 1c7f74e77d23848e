package install

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/permissions"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// An Import is the permission lists of agents beside the rules that they become.
type Import struct {
	Rows []ImportRow `json:"entries"`
	// Problems are the files that cannot be read, each with the reason.
	Problems []string `json:"problems"`

	home string
}

// What becomes of an entry.
const (
	ImportAdd    = "add"        // its rules are added
	ImportThere  = "there"      // its rules are there already
	ImportWide   = "wide"       // its rules allow nearly everything, or more than the lists do
	ImportShared = "project"    // it allows something, and stands in a file of the project
	ImportAsks   = "asks"       // the agent asks, and so does assent
	ImportCannot = "cannot-say" // no rule says it
)

// An ImportRow is an entry of a list.
type ImportRow struct {
	Agent string `json:"agent"`
	File  string `json:"file"`
	// Theirs is the entry with what it does, Ours the rules that say the same.
	Theirs string   `json:"theirs"`
	Ours   []string `json:"ours"`
	// Project is the folder that the rules hold in; empty for everywhere.
	Project string `json:"project,omitempty"`
	// Becomes is one of the words above, Why the reason or how the rules differ.
	Becomes string `json:"becomes"`
	Why     string `json:"why,omitempty"`

	rules []policy.Rule
}

// ReadLists reads the lists of agents, by their names, and compares them with the rules that are kept.
func ReadLists(names []string, around settings.Surroundings, kept []policy.Rule) (*Import, error) {
	out := &Import{Rows: []ImportRow{}, Problems: []string{}, home: around.Home}
	for _, name := range names {
		entries, problems := permissions.Entries(name, around)
		for _, p := range problems {
			out.Problems = append(out.Problems, p.Error())
		}
		for _, e := range entries {
			row, err := out.row(e, kept)
			if err != nil {
				return nil, err
			}
			out.Rows = append(out.Rows, row)
			if row.Becomes == ImportAdd || row.Becomes == ImportShared {
				kept = append(kept, row.rules...) // an entry that stands twice is one rule
			}
		}
	}
	return out, nil
}

// row says what becomes of an entry.
func (im *Import) row(e permissions.Entry, kept []policy.Rule) (ImportRow, error) {
	row := ImportRow{Agent: e.Agent, File: e.File, Theirs: fmt.Sprintf("%-5s %s", e.Effect, e.Text), Ours: []string{}}
	whole := true
	if e.Scope == settings.Project {
		var err error
		if row.Project, err = setup.ProjectOf(e.Project); err != nil {
			return row, err
		}
		real, err := filepath.EvalSymlinks(e.Project)
		whole = err == nil && real == row.Project
	}
	if e.Effect == permissions.EffectAsk {
		row.Becomes, row.Why = ImportAsks, "assent asks anyway"
		return row, nil
	}
	for _, read := range slices.Concat(e.Rules, e.Inner) {
		rule, err := config.ParseRule(read.String()) // with links in paths followed, as everywhere
		if err != nil {
			row.Ours, row.rules, e.Missing = nil, nil, err.Error()
			break
		}
		row.Ours = append(row.Ours, rule.String())
		rule.ID, rule.Created, rule.Project = rand.Text(), time.Now().UTC().Truncate(time.Second), row.Project
		rule.Note = present.SafeLine("imported from " + im.short(e.File) + ": " + e.Text) // one line, as files of rules have it
		if !slices.ContainsFunc(kept, func(k policy.Rule) bool { return says(k, rule) }) {
			row.rules = append(row.rules, rule)
		}
	}
	row.Becomes, row.Why = ImportAdd, cmp.Or(e.Missing, e.Differs)
	switch allow := e.Effect == policy.EffectAllow; {
	case len(row.Ours) == 0:
		row.Becomes = ImportCannot
	case len(row.rules) == 0:
		row.Becomes = ImportThere
	case allow && !whole:
		row.Becomes, row.rules = ImportCannot, nil
		row.Why = "it is for one folder of the project " + im.short(row.Project) + ", and rules are for all of it"
	case allow && len(e.Except) > 0:
		row.Becomes, row.Why = ImportWide, "it would allow what is asked there: "+strings.Join(e.Except, ", ")
	case allow && len(e.Inner) > 0:
		row.Becomes, row.Why = ImportWide, "it starts another program, which would be allowed by itself, too"
	case allow && wide(row.rules) != "":
		row.Becomes, row.Why = ImportWide, wide(row.rules)
	case allow && e.Scope == settings.Project:
		row.Becomes = ImportShared
	}
	return row, nil
}

// says reports whether a rule that is kept says the same. One that is disabled does: somebody turned it off. Names are
// the same whatever their case, paths and words are not.
func says(kept, rule policy.Rule) bool {
	head, target, _ := strings.Cut(rule.Pattern, "(")
	keptHead, keptTarget, _ := strings.Cut(kept.Pattern, "(")
	ended := !kept.Expires.IsZero() && !rule.Created.Before(kept.Expires)
	return !ended && kept.Effect == rule.Effect && kept.Scope == rule.Scope && strings.EqualFold(keptHead, head) &&
		keptTarget == target && (kept.Project == "" || kept.Project == rule.Project)
}

func wide(rules []policy.Rule) string {
	for _, r := range rules {
		if why := rulebook.Wide(r); why != "" {
			return why
		}
	}
	return ""
}

// Count is how many rules the entries become of which one of these words is said.
func (im *Import) Count(becomes ...string) int { return len(im.Rules(becomes...)) }

// Rules are those of the entries of which one of these words is said.
func (im *Import) Rules(becomes ...string) (out []policy.Rule) {
	for _, row := range im.Rows {
		if slices.Contains(becomes, row.Becomes) {
			out = append(out, row.rules...)
		}
	}
	return out
}

// short writes a path with ~ for the home folder.
func (im *Import) short(path string) string {
	if rel, err := filepath.Rel(im.home, path); im.home != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

// theirsWidth and oursWidth are how wide the columns are, on a terminal of 80.
const (
	theirsWidth = 34
	oursWidth   = 80 - theirsWidth - 2
)

// Print prints the table: theirs, ours, and what cannot be said and why.
func (im *Import) Print(w io.Writer) {
	file := ""
	for _, row := range im.Rows {
		if row.File != file {
			file = row.File
			title := row.Agent
			if a, err := agents.Named(row.Agent); err == nil {
				title = a.Title
			}
			where := "all projects"
			if row.Project != "" {
				where = im.short(row.Project)
			}
			fmt.Fprintf(w, "\n%s, %s, for %s\n", title, present.SafeLine(im.short(file)), present.SafeLine(where))
		}
		theirs := "  " + present.SafeLine(row.Theirs)
		if len([]rune(theirs)) > theirsWidth {
			fmt.Fprintln(w, theirs)
			theirs = ""
		}
		for _, line := range row.lines() {
			parts := []string{present.SafeLine(strings.ReplaceAll(line, "("+im.home+"/", "(~/"))}
			if !slices.Contains(row.Ours, line) { // a rule stays on its line
				parts = wrapped(parts[0])
			} else if len([]rune(parts[0])) > oursWidth {
				if theirs != "" {
					fmt.Fprintln(w, theirs)
				}
				fmt.Fprintln(w, "      "+parts[0])
				theirs, parts = "", nil
			}
			for _, part := range parts {
				fmt.Fprintf(w, "%-*s  %s\n", theirsWidth, theirs, part)
				theirs = ""
			}
		}
	}
	for _, p := range im.Problems {
		fmt.Fprintf(w, "\nNot read: %s\n", present.SafeLine(strings.ReplaceAll(p, im.home+"/", "~/")))
	}
}

// wrapped breaks a line between words, so that the table fits a terminal of 80 columns. What has no spaces stays.
func wrapped(line string) (out []string) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	text := line[:indent]
	for _, word := range strings.Fields(line) {
		if strings.TrimSpace(text) != "" && len([]rune(text))+1+len([]rune(word)) > oursWidth {
			out = append(out, text)
			text = strings.Repeat(" ", max(indent, 4))
		}
		if strings.TrimSpace(text) != "" {
			text += " "
		}
		text += word
	}
	return append(out, text)
}

// lines are what stands beside the entry.
func (r ImportRow) lines() (out []string) {
	const indent = "    "
	switch r.Becomes {
	case ImportAsks:
		return []string{"nothing: " + r.Why}
	case ImportCannot:
		return []string{"CANNOT SAY: " + r.Why}
	case ImportWide:
		return append(append(out, r.Ours...), indent+"LEFT OUT: "+r.Why)
	case ImportThere:
		return append(append(out, r.Ours...), indent+"is there already")
	}
	out = append(out, r.Ours...)
	if r.Why != "" && strings.HasPrefix(r.Theirs, "deny") {
		return append(out, indent+"BUT: "+r.Why)
	} else if r.Why != "" {
		return append(out, indent+r.Why)
	}
	return out
}

// Summary says what would be added and what not.
func (im *Import) Summary() string {
	cannot, asks := 0, 0
	for _, row := range im.Rows {
		switch row.Becomes {
		case ImportCannot:
			cannot++
		case ImportAsks:
			asks++
		}
	}
	text := count(im.Count(ImportAdd, ImportShared), "rule to add", "rules to add")
	if n := im.Count(ImportShared); n > 0 {
		text += fmt.Sprintf(" (%d from files of the project)", n)
	}
	var rest []string
	for _, p := range []struct {
		n         int
		one, more string
	}{
		{im.Count(ImportWide), "wide one", "wide ones"}, {cannot, "that no rule can say", "that no rule can say"},
		{asks, "entry that asks", "entries that ask"}, {len(im.Problems), "file not read", "files not read"},
	} {
		if p.n > 0 {
			rest = append(rest, count(p.n, p.one, p.more))
		}
	}
	if len(rest) > 0 {
		text += ". Not added: " + strings.Join(rest, ", ")
	}
	return text + "."
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// A Keeper keeps rules.
type Keeper interface {
	AddRules(ctx context.Context, rules ...policy.Rule) error
}

// Keep adds the rules of the entries of which one of these words is said, all or none.
func (im *Import) Keep(ctx context.Context, k Keeper, becomes ...string) ([]policy.Rule, error) {
	rules := im.Rules(becomes...)
	if len(rules) == 0 {
		return nil, nil
	}
	return rules, k.AddRules(ctx, rules...)
}
