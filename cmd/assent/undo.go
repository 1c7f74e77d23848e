package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/snapshot"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

func undoCmd() *cobra.Command {
	var state, session string
	var dryRun bool
	c := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Put back what an approved change or command replaced",
		Long: "undo shows what would change back, and puts it back if the file is still what the tool or\n" +
			"the command left. Without an id it lists what can be undone.\n\n" +
			"Of a command it covers files in writable roots. Files that git ignores, very large files and\n" +
			"git's own (commits, branches) are not covered; 'assent explain COMMAND' says which those are.\n\n" +
			"Of another agent that asks assent before its tools run, it covers the edits of its own file tools.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := stateFolder(state)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listUndo(c, dir, session)
			}
			return undoOne(c, dir, args[0], dryRun)
		},
	}
	c.Flags().StringVar(&state, "state", "", "the state folder (default: assent's own)")
	c.Flags().StringVar(&session, "session", "", "list only what this session of another agent changed")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would change back")
	return c
}

// An undoLine is what the list says about one file of a tool's call, or about a command.
type undoLine struct {
	id   string
	time time.Time
	what string
	file string
}

func listUndo(c *cobra.Command, state, session string) error {
	entries, err := open.UndoFolder(state, "").List(c.Context())
	if err != nil {
		return err
	}
	var lines []undoLine
	for _, e := range entries {
		if session != "" && e.Session != session {
			continue
		}
		what := e.Tool
		if e.Agent != "" {
			what += " by " + e.Agent
		}
		for _, change := range e.Changes {
			lines = append(lines, undoLine{e.ID, e.Time, what, change.Path})
		}
	}
	if session != "" { // commands are kept without the session that they were of
		return printUndo(c, lines)
	}
	commands := open.Snapshots(state, "", nil)
	if err := commands.Recover(c.Context()); err != nil {
		fmt.Fprintln(c.ErrOrStderr(), "assent: warning: what an interrupted command changed could not be found out:", present.SafeLine(err.Error()))
	}
	records, err := commands.List(c.Context())
	if err != nil {
		return err
	}
	for _, r := range records {
		lines = append(lines, undoLine{r.ID, r.Time, "shell", commandLine(&r)})
	}
	return printUndo(c, lines)
}

func printUndo(c *cobra.Command, lines []undoLine) error {
	if len(lines) == 0 {
		fmt.Fprintln(c.OutOrStdout(), "There is nothing to undo.")
		return nil
	}
	slices.SortStableFunc(lines, func(a, b undoLine) int { return b.time.Compare(a.time) })
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.id, l.time.Local().Format("2006-01-02 15:04:05"), present.SafeLine(l.what), present.SafeLine(l.file))
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

func undoOne(c *cobra.Command, state, id string, dryRun bool) error {
	undo := open.UndoFolder(state, "")
	entry, err := undo.Get(c.Context(), id)
	if errors.Is(err, files.ErrNoEntry) {
		commands := open.Snapshots(state, "", nil)
		if r, missing := commands.Get(id); !errors.Is(missing, snapshot.ErrNoRecord) {
			return undoCommand(c, state, r, missing, dryRun)
		}
	}
	if err != nil {
		return fmt.Errorf("%w; run 'assent undo' to see what can be undone", err)
	}
	set, err := undoRoots(c, entry.Project, entry.Policy, state)
	if err != nil {
		return err
	}
	defer set.Close()
	r, err := files.Restore(c.Context(), set, files.Options{Undo: undo}, id)
	if err != nil {
		return err
	}
	showRestoration(c.OutOrStdout(), r)
	if dryRun {
		fmt.Fprintln(c.OutOrStdout(), "Nothing was changed.")
		return nil
	}
	if err := r.Apply(c.Context()); err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout(), "It is as it was.")
	return undo.Drop(c.Context(), id)
}

// undoRoots are the roots of the project of another agent, or of the policy that a change was made
// under.
func undoRoots(c *cobra.Command, project, policy, state string) (*roots.Set, error) {
	if project != "" {
		return agentRoots(c, project, state)
	}
	s, err := setup.Named(c.Context(), policy, state)
	if err != nil {
		return nil, err
	}
	return s.Roots()
}

// agentRoots are the roots of another agent that works in a project.
func agentRoots(c *cobra.Command, project, state string) (*roots.Set, error) {
	order, err := setup.OrderHere("", state)
	if err != nil {
		return nil, err
	}
	order.Dir, order.Default = project, true
	s, err := setup.Resolve(c.Context(), order)
	if err != nil {
		return nil, err
	}
	return s.Roots()
}

// undoCommand puts back what a command changed, apart from what has changed since.
func undoCommand(c *cobra.Command, state string, r snapshot.Record, err error, dryRun bool) error {
	if err != nil {
		return err
	}
	set, err := undoRoots(c, r.Project, r.Policy, state)
	if err != nil {
		return err
	}
	defer set.Close()
	store := open.Snapshots(state, r.Policy, set.Roots())
	p, err := store.Plan(c.Context(), r.ID, set)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
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
	if err := p.Apply(c.Context()); err != nil {
		return err
	}
	if len(p.Kept) > 0 {
		return fmt.Errorf("%d of %d changes were left alone, as listed; the rest is as it was", len(p.Kept), len(p.Kept)+len(p.Steps))
	}
	fmt.Fprintln(out, "It is as it was.")
	return store.Drop(c.Context(), r.ID)
}

func showRestoration(w io.Writer, r *files.Restoration) {
	for i, v := range r.Views {
		fmt.Fprintln(w, present.SafeLine(r.Summary[i]))
		fmt.Fprintln(w, shownText(v.Content))
	}
}
