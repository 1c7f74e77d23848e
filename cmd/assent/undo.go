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
		Short: "Undo an approved change or command",
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
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would change back")
	return c
}
