package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	teamserver "github.com/assent-dev/assent/internal/team/server"
)

// serveCmd runs the server of a team.
func serveCmd() *cobra.Command {
	var path string
	var check bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the server of a team",
		Long: "serve carries the questions, votes and records of a team, and stores them in PostgreSQL. It makes no\n" +
			"decisions: people sign their answers, and machines check the signatures. docs/serve.md describes its file.",
		Example: "  assent serve --config serve.yaml --check\n  assent serve --config serve.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := teamserver.ReadConfig(path)
			if err != nil {
				return err
			}
			if check {
				return printChecks(c, teamserver.Check(c.Context(), cfg))
			}
			log := slog.New(slog.NewJSONHandler(c.ErrOrStderr(), nil))
			return teamserver.Run(c.Context(), teamserver.Options{Config: cfg, Log: log, People: teamPages(cfg)})
		},
	}
	c.Flags().StringVar(&path, "config", teamserver.DefaultConfig, "the server's `FILE`")
	c.Flags().BoolVar(&check, "check", false, "check the file, certificate, keys, database and sign-in service, and exit")
	c.AddCommand(serveKeyCmd())
	return c
}

// printChecks prints a line for each check, and fails if one found a problem.
func printChecks(c *cobra.Command, checks []teamserver.Checked) error {
	wrong := 0
	for _, k := range checks {
		mark := "ok     "
		if k.Err != nil {
			mark = "problem"
			wrong++
		}
		fmt.Fprintf(c.OutOrStdout(), "%s  %s: %s\n", mark, k.What, shownText(k.Text()))
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks failed", wrong, len(checks))
	}
	return nil
}

func serveKeyCmd() *cobra.Command {
	var tenant string
	c := &cobra.Command{
		Use:   "key FILE",
		Short: "Make the key that signs the checkpoints of a team's log",
		Long: "key writes a new private key to FILE and prints its public half. 'assent policy publish' tells machines\n" +
			"the public half. Every replica needs a copy of the file.",
		Example: "  assent serve key /etc/assent/log.key --tenant acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if tenant == "" {
				return misused(c, "missing --tenant: the name of the team, as in the server's file")
			}
			public, err := teamserver.MakeLogKey(args[0], tenant)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), public)
			return nil
		},
	}
	c.Flags().StringVar(&tenant, "tenant", "", "the `NAME` of the team, as in the server's file")
	return c
}
