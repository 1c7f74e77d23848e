package main

import (
	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/undo"
)

func undoCmd() *cobra.Command {
	var state, session string
	var dryRun bool
	c := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Undo a change that a tool or command made",
		Long: "undo shows what would be restored, and restores it if the file is still as the tool or the command left\n" +
			"it. Without an id it lists what can be undone.\n" +
			"\n" +
			"For commands it covers files in writable roots, but not files that git ignores, very large files or git's\n" +
			"own files (commits, branches); 'assent explain COMMAND' says what is not covered. For other agents that\n" +
			"ask assent before their tools run, it covers the edits of their own file tools.",
		Example: "  assent undo\n" +
			"  assent undo h3xk2\n" +
			"  assent undo h3xk2 --dry-run",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := stateFolder(state)
			if err != nil {
				return err
			}
			f := undo.Folder{State: dir, Out: c.OutOrStdout(), Err: c.ErrOrStderr()}
			if len(args) == 0 {
				return f.List(c.Context(), session)
			}
			if err := byPerson(c); err != nil && !dryRun {
				return err
			}
			return f.Undo(c.Context(), args[0], dryRun)
		},
	}
	c.Flags().StringVar(&state, "state", "", "the state folder (default: assent's own)")
	c.Flags().StringVar(&session, "session", "", "list only what this session of another agent changed")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be restored, but change nothing")
	return c
}
