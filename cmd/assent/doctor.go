package main

import "github.com/spf13/cobra"

func doctorCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Find what is wrong with this installation, and how to fix it",
		Example: "  assent doctor",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return nil },
	}
}
