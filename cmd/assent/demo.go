package main

import (
	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/demo"
	"github.com/assent-dev/assent/internal/runs"
)

type demoFlags struct {
	askFlags
	options demo.Options
}

func demoCmd() *cobra.Command {
	var flags demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "See what assent does, in one minute",
		Long: "demo lets a scripted agent tidy up some notes in a temporary folder, and asks you what it may do. It\n" +
			"needs no model, no network and no setup. Without a terminal it plays a recorded operator and says so.",
		Example: "  assent demo\n" +
			"  assent demo --strict\n" +
			"  assent demo --dir /tmp/notes",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flags.check(c); err != nil {
				return err
			}
			o := &flags.options
			o.Mode, o.AskTimeout, o.StopOnDeny = flags.mode(), flags.askTimeout, flags.onDeny == "stop"
			o.Program = commandName()
			return demo.Run(c.Context(), runs.NewPrinter(c.OutOrStdout()), *o)
		},
	}
	flags.register(c)
	flags.registerOnDeny(c)
	c.Flags().StringVar(&flags.options.Dir, "dir", "",
		"use this folder (new, or from an earlier demo) instead of a temporary one")
	return c
}
