package main

import "github.com/spf13/cobra"

// helpCmd is `assent help [COMMAND]`. Unlike cobra's own it fails on a command that does
// not exist, so that a script notices.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print help for a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if err := knownCommand(about, rest); err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
