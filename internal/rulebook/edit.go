package rulebook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
)

// editHelp stands above the rules that are edited.
const editHelp = `# These are your rules. Change, add or delete lines; what you save is checked, shown and
# then kept. A rule stays the same one as long as the id above it stays.
#   # because: …  and  # note: …  above a rule say more about it
#   # project: /home/me/shop  above a rule limits it to that project; others hold everywhere
#   # disabled: allow shell(make)               is kept and does not hold
#   # until 2026-12-31T18:00:00Z: allow shell(make)   holds until then
`

// An Editor changes the rules of a store with a person who sees what changes.
type Editor struct {
	Store *store.Store
	// Edit has the person edit a file.
	Edit func(path string) error
	// Project finds the project that a folder belongs to.
	Project func(dir string) (string, error)
	// Confirm asks whether to keep what was shown; an error is a no.
	Confirm func() error
	Wide    bool   // new rules may allow nearly everything
	Program string // how the person can start this program
	Out     io.Writer
}

// EditRules has the rules edited, or an earlier draft of them, and keeps what comes back.
func (e *Editor) EditRules(ctx context.Context, draft string) error {
	set, err := e.Store.Rules(ctx)
	if err != nil {
		return err
	}
	before, path := set.Rules(), draft
	if path == "" {
		if path, err = writeDraft(before); err != nil {
			return err
		}
	}
	if err := e.Edit(path); err != nil {
		return fmt.Errorf("the editor failed, so nothing was changed: %w; what was written is in %s", err, path)
	}
	// Ctrl-C in the editor was meant for the editor.
	if err := e.keepDraft(context.WithoutCancel(ctx), before, path); err != nil {
		return fmt.Errorf("%w\nnothing was changed; go on with: %s rules edit --draft %s", err, e.Program, path)
	}
	return os.Remove(path)
}

func writeDraft(rules []policy.Rule) (string, error) {
	f, err := os.CreateTemp("", "assent-rules-*.yaml") // made with mode 0600
	if err != nil {
		return "", fmt.Errorf("creating a file to edit: %w", err)
	}
	_, err = io.WriteString(f, editHelp)
	return f.Name(), errors.Join(err, Write(f, rules), f.Close())
}

// keepDraft checks what was written, shows what changes, and keeps it.
func (e *Editor) keepDraft(ctx context.Context, before []policy.Rule, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	after, err := Parse("rules.yaml", data)
	if err != nil {
		return err
	}
	after = Identify(before, after, rand.Text, time.Now().UTC())
	return e.apply(ctx, before, after, "Nothing was changed.")
}

// Import keeps rules that are given, beside those that are there or in their place. It returns the
// rules that are there then.
func (e *Editor) Import(ctx context.Context, given []policy.Rule, replace bool) ([]policy.Rule, error) {
	set, err := e.Store.Rules(ctx)
	if err != nil {
		return nil, err
	}
	before := set.Rules()
	given = Identify(before, given, rand.Text, time.Now().UTC())
	after := given
	if !replace {
		after = slices.Clone(before)
		for _, e := range given {
			if !slices.ContainsFunc(before, func(b policy.Rule) bool { return b.ID == e.ID }) {
				after = append(after, e)
			}
		}
	}
	return after, e.apply(ctx, before, after, "All of these rules are already saved.")
}

// resolveProjects names the projects of new rules as calls do: a rule for another spelling would
// answer nothing. A folder that is not there, from another machine perhaps, stays as it is written.
func (e *Editor) resolveProjects(before, after []policy.Rule) error {
	for i := range after {
		folder := after[i].Project
		known := func(r policy.Rule) bool { return r.Project == folder }
		if _, err := os.Stat(folder); err != nil || slices.ContainsFunc(before, known) {
			continue
		}
		found, err := e.Project(folder)
		if err != nil {
			return err
		}
		after[i].Project = found
	}
	return nil
}

// apply shows changes and makes them, unless they allow too much or the person says no. Same is
// said if there are none.
func (e *Editor) apply(ctx context.Context, before, after []policy.Rule, same string) error {
	if err := e.resolveProjects(before, after); err != nil {
		return err
	}
	changes := Changes(before, after)
	if len(changes) == 0 {
		fmt.Fprintln(e.Out, same)
		return nil
	}
	for _, change := range changes {
		fmt.Fprintln(e.Out, present.SafeLine(change.String()))
		if why := Wide(change.After); why != "" && change.Widens() && !e.Wide {
			return fmt.Errorf("rule %q: %s; add --wide if you mean it", change.After, why)
		}
	}
	if err := e.Confirm(); err != nil {
		return err
	}
	if err := e.Store.ReplaceRules(ctx, before, after); err != nil {
		return err
	}
	fmt.Fprintln(e.Out, "Saved the rules.")
	return nil
}
