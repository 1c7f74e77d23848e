package main

import (
	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/health"
)

func statusCmd() *cobra.Command {
	var k storeFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "status [AGENT]",
		Short: "Show which agents are protected, by what, and what is going on",
		Long: "status shows, for this folder: which agents ask assent and whether that was tried, which policy files\n" +
			"apply, whether a sandbox works, how many rules are saved, what waits for an answer and what was decided\n" +
			"today. The last lines say what to do next.\n\n" +
			"Without a name it shows the agents that are installed. 'assent doctor' looks for problems in more detail.",
		Example:   "  assent status\n  assent status claude-code\n  assent status --json",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: install.AgentNames(),
		RunE: func(c *cobra.Command, args []string) error {
			var named *agents.Agent
			if len(args) > 0 {
				var err error
				if named, err = agents.Named(args[0]); err != nil {
					return asUsage(c, err)
				}
			}
			s, err := health.Now(c.Context(), k.state, thisBuild().Version, named)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), s)
			}
			return s.Print(c.OutOrStdout())
		},
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}
