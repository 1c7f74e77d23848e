package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/store"
)

func auditStatsCmd(flags *auditFlags) *cobra.Command {
	var filter filterFlags
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count prompts and answers, and which rules do work",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := flags.reading(c.Context())
			if errors.Is(err, open.ErrNoStore) {
				if flags.json {
					return writeJSON(c.OutOrStdout(), store.Stats{})
				}
				_, err = fmt.Fprintln(c.OutOrStdout(), "Nothing has been decided.")
				return err
			}
			if err != nil {
				return err
			}
			defer s.Close()
			wanted, err := filter.filter(c.Context(), s, time.Now())
			if err != nil {
				return err
			}
			stats, err := s.Stats(c.Context(), wanted)
			if err != nil {
				return err
			}
			if flags.json {
				return writeJSON(c.OutOrStdout(), stats)
			}
			rules, err := s.Rules(c.Context())
			if err != nil {
				return err
			}
			return auditview.Stats(c.OutOrStdout(), plotStyle(c), stats, rules.Rules())
		},
	}
	filter.register(c)
	return c
}

// plotStyle is what standard output can show.
func plotStyle(c *cobra.Command) auditview.Style {
	columns := 0
	if f, ok := c.OutOrStdout().(*os.File); ok && term.IsTerminal(f) {
		columns = term.Columns(f)
	}
	return auditview.DetectStyle(columns, os.Getenv)
}
