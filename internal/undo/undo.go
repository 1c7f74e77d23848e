// Package undo lists what changes of tools, of commands and of other agents' edits can be put back,
// and puts it back if the files are still what was left. What was replaced is kept by packages
// tool/files and snapshot.
package undo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/snapshot"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// A Folder is a state folder whose changes can be put back, and where that is told.
type Folder struct {
	State    string
	Out, Err io.Writer
}

// A line is what the list says about one file of a tool's call, or about a command.
type line struct {
	id   string
	time time.Time
	what string
	file string
}

// List prints what can be put back: all, or what a session of another agent changed.
func (f Folder) List(ctx context.Context, session string) error {
	entries, err := open.UndoFolder(f.State, "").List(ctx)
	if err != nil {
		return err
	}
	var lines []line
	for _, e := range entries {
		if session != "" && e.Session != session {
			continue
		}
		what := e.Tool
		if e.Agent != "" {
			what += " by " + e.Agent
		}
		for _, change := range e.Changes {
			lines = append(lines, line{e.ID, e.Time, what, change.Path})
		}
	}
	if session != "" { // commands are kept without the session that they were of
		return f.print(lines)
	}
	commands := open.Snapshots(f.State, "", nil)
	if err := commands.Recover(ctx); err != nil {
		fmt.Fprintln(f.Err, "assent: warning: what an interrupted command changed could not be found out:",
			present.SafeLine(err.Error()))
	}
	records, err := commands.List(ctx)
	if err != nil {
		return err
	}
	for _, r := range records {
		lines = append(lines, line{r.ID, r.Time, "shell", commandLine(&r)})
	}
	return f.print(lines)
}

func (f Folder) print(lines []line) error {
	if len(lines) == 0 {
		fmt.Fprintln(f.Out, "There is nothing to undo.")
		return nil
	}
	slices.SortStableFunc(lines, func(a, b line) int { return b.time.Compare(a.time) })
	w := tabwriter.NewWriter(f.Out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		when := l.time.Local().Format(time.DateTime)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.id, when, present.SafeLine(l.what), present.SafeLine(l.file))
	}
	return w.Flush()
}

// maxCommandText is how much of a command the list shows.
const maxCommandText = 60

// commandLine says what a command changed, in a line.
func commandLine(r *snapshot.Record) string {
	text, _, more := strings.Cut(r.Command, "\n")
	if runes := []rune(text); len(runes) > maxCommandText {
		text, more = string(runes[:maxCommandText]), true
	}
	if more {
		text += " …"
	}
	text = fmt.Sprintf("%s – %s", text, filesChanged(r.Files()))
	if r.Interrupted {
		text += " (interrupted; later changes are among them)"
	}
	return text
}

func filesChanged(n int) string {
	if n == 1 {
		return "1 file changed"
	}
	return fmt.Sprintf("%d files changed", n)
}

// Undo shows what would change back, and puts it back.
func (f Folder) Undo(ctx context.Context, id string, dryRun bool) error {
	undo := open.UndoFolder(f.State, "")
	entry, err := undo.Get(ctx, id)
	if errors.Is(err, files.ErrNoEntry) {
		commands := open.Snapshots(f.State, "", nil)
		if r, missing := commands.Get(id); !errors.Is(missing, snapshot.ErrNoRecord) {
			return f.undoCommand(ctx, r, missing, dryRun)
		}
	}
	if err != nil {
		return fmt.Errorf("%w; run 'assent undo' to see what can be undone", err)
	}
	set, err := f.roots(ctx, entry.Project, entry.Policy)
	if err != nil {
		return err
	}
	defer set.Close()
	r, err := files.Restore(ctx, set, files.Options{Undo: undo}, id)
	if err != nil {
		return err
	}
	showRestoration(f.Out, r)
	if dryRun {
		fmt.Fprintln(f.Out, "Nothing was changed.")
		return nil
	}
	if err := r.Apply(ctx); err != nil {
		return err
	}
	fmt.Fprintln(f.Out, "Restored.")
	return undo.Drop(ctx, id)
}

// roots are those of the project of another agent, or of the policy that a change was made under.
func (f Folder) roots(ctx context.Context, project, policy string) (*roots.Set, error) {
	order, err := setup.OrderHere(policy, f.State)
	if err != nil {
		return nil, err
	}
	if project != "" {
		order.File, order.Dir, order.Default = "", project, true
	}
	s, err := setup.Resolve(ctx, order)
	if err != nil {
		return nil, err
	}
	return s.Roots()
}

// undoCommand puts back what a command changed, apart from what has changed since.
func (f Folder) undoCommand(ctx context.Context, r snapshot.Record, err error, dryRun bool) error {
	if err != nil {
		return err
	}
	set, err := f.roots(ctx, r.Project, r.Policy)
	if err != nil {
		return err
	}
	defer set.Close()
	store := open.Snapshots(f.State, r.Policy, set.Roots())
	p, err := store.Plan(ctx, r.ID, set)
	if err != nil {
		return err
	}
	out := f.Out
	fmt.Fprintf(out, "Undo of: %s\n", present.SafeLine(commandLine(&r)))
	for _, line := range p.Steps {
		fmt.Fprintln(out, present.SafeLine(line))
	}
	for _, line := range p.Kept {
		fmt.Fprintln(out, "Left alone:", present.SafeLine(line))
	}
	for _, line := range r.Through {
		fmt.Fprintln(out, "Not kept:", present.SafeLine(line))
	}
	if r.Git {
		fmt.Fprintln(out, "The command changed commits or branches; undo covers files only, so use git for those.")
	}
	if dryRun {
		fmt.Fprintln(out, "Nothing was changed.")
		return nil
	}
	if err := p.Apply(ctx); err != nil {
		return err
	}
	if len(p.Kept) > 0 {
		return fmt.Errorf("%d of %d changes were left alone, as listed; the others were restored",
			len(p.Kept), len(p.Kept)+len(p.Steps))
	}
	fmt.Fprintln(out, "Restored.")
	return store.Drop(ctx, r.ID)
}

func showRestoration(w io.Writer, r *files.Restoration) {
	for i, v := range r.Views {
		fmt.Fprintln(w, present.SafeLine(r.Summary[i]))
		fmt.Fprintln(w, strings.ReplaceAll(present.Safe(v.Content), "\t", "    "))
	}
}
