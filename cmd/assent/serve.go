package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/team/server"
)

// serveCmd runs the server of a team.
func serveCmd() *cobra.Command {
	var path string
	var check bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the server of a team",
		Long: "serve carries the questions, votes and records of a team, on PostgreSQL. It decides nothing: machines\n" +
			"check signatures themselves. docs/serve.md describes its file.",
		Example: "  assent serve --config serve.yaml --check\n  assent serve --config serve.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := server.ReadConfig(path)
			if err != nil {
				return err
			}
			if check {
				return printChecks(c, server.Check(c.Context(), cfg))
			}
			log := slog.New(slog.NewJSONHandler(c.ErrOrStderr(), nil))
			return server.Run(c.Context(), server.Options{Config: cfg, Log: log})
		},
	}
	c.Flags().StringVar(&path, "config", server.DefaultConfig, "`FILE` that says what the server works with")
	c.Flags().BoolVar(&check, "check", false, "check file, certificate, keys, database and sign-in service, and end")
	c.AddCommand(serveKeyCmd())
	return c
}

// printChecks prints a line for each thing that was looked at, and fails if one is wrong.
func printChecks(c *cobra.Command, checks []server.Checked) error {
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
		Long: "key writes a new private key to FILE and prints its public half, which belongs into the team's bundle.\n" +
			"All replicas use the same file.",
		Example: "  assent serve key /etc/assent/log.key --tenant acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			public, err := server.MakeLogKey(args[0], tenant)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), public)
			return nil
		},
	}
	c.Flags().StringVar(&tenant, "tenant", "", "`NAME` of the team, as in the server's file")
	_ = c.MarkFlagRequired("tenant")
	return c
}
