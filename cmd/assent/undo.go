package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/files"
)

func undoCmd() *cobra.Command {
	var state string
	var dryRun bool
	c := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Put back what an approved change replaced",
		Long: "undo shows what would change back, and puts it back if the file is still what the tool\n" +
			"left. Without an id it lists what can be undone.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := stateFolder(state)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listUndo(c, dir)
			}
			return undoOne(c, dir, args[0], dryRun)
		},
	}
	c.Flags().StringVar(&state, "state", "", "the state folder (default: assent's own)")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would change back")
	return c
}

func listUndo(c *cobra.Command, state string) error {
	entries, err := open.UndoFolder(state, "").List(c.Context())
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		fmt.Fprintln(c.OutOrStdout(), "There is nothing to undo.")
		return nil
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, e := range entries {
		for _, change := range e.Changes {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.ID, e.Time.Local().Format("2006-01-02 15:04:05"), present.SafeLine(e.Tool), present.SafeLine(change.Path))
		}
	}
	return w.Flush()
}

func undoOne(c *cobra.Command, state, id string, dryRun bool) error {
	undo := open.UndoFolder(state, "")
	entry, err := undo.Get(c.Context(), id)
	if err != nil {
		return fmt.Errorf("%w; run 'assent undo' to see what can be undone", err)
	}
	s, err := namedPolicy(c.Context(), entry.Policy, state)
	if err != nil {
		return err
	}
	set, err := s.Roots()
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

func showRestoration(w io.Writer, r *files.Restoration) {
	for i, v := range r.Views {
		fmt.Fprintln(w, present.SafeLine(r.Summary[i]))
		fmt.Fprintln(w, shownText(v.Content))
	}
}
