package main

import (
	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/health"
)

func doctorCmd() *cobra.Command {
	var k storeFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with this installation, and how to fix it",
		Long: "doctor looks at everything that assent depends on: its programs, the policy files, the state folder,\n" +
			"the disk, the store and its log, the sandbox, the agents' settings and hooks, and the terminal. For each\n" +
			"problem it says how to fix it. It repairs nothing, and exits with status 1 if something does not work.",
		Example: "  assent doctor\n  assent doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := health.Examine(c.Context(), k.state)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(c.OutOrStdout(), map[string]any{"findings": found})
			} else {
				err = health.Print(c.OutOrStdout(), found)
			}
			if err == nil && health.Failed(found) {
				err = statusError{exitFailed, nil}
			}
			return err
		},
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}
