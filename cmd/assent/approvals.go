package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/store"
)

// approvalsOffBanner is said by every command while nobody is asked.
const approvalsOffBanner = "WARNING: approvals are OFF: what would be asked runs without a question.\n" +
	"         What is blocked, deny rules and the audit log still hold. Turn them on: assent approvals on"

func approvalsCmd() *cobra.Command {
	var k keeper
	var asJSON bool
	c := &cobra.Command{
		Use:   "approvals [on|off]",
		Short: "Turn asking on or off, for everything",
		Long: "approvals is the master switch. Off, what would be asked runs, as with --approve-all; what is\n" +
			"blocked, deny rules, what only a person may answer and the records stay. Without a word it\n" +
			"says how it stands.",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"on", "off"},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return showApprovals(c, &k, asJSON)
			}
			return setApprovals(c, &k, args[0] == "on", asJSON)
		},
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func showApprovals(c *cobra.Command, k *keeper, asJSON bool) error {
	s, err := k.reading(c.Context())
	if errors.Is(err, errNoStore) {
		return printApprovals(c, true, asJSON)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	on, err := approvalsOn(c, s)
	if err != nil {
		return err
	}
	return printApprovals(c, on, asJSON)
}

func setApprovals(c *cobra.Command, k *keeper, on, asJSON bool) error {
	s, err := k.changing(c)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.SetApprovals(c.Context(), on); err != nil {
		return err
	}
	if on, err = approvalsOn(c, s); err != nil {
		return err
	}
	return printApprovals(c, on, asJSON)
}

// approvalsOn reports whether people are asked: either switch, the command's and that of
// the user's config, turns it off.
func approvalsOn(c *cobra.Command, s *store.Store) (bool, error) {
	user, err := userConfig()
	if err != nil {
		return true, err
	}
	on, err := s.Approvals(c.Context())
	if user.ApprovalsOff && on && err == nil {
		fmt.Fprintln(c.ErrOrStderr(), "assent: config.yaml says approvals: false; take that line out to turn them on")
	}
	return on && !user.ApprovalsOff, err
}

func printApprovals(c *cobra.Command, on, asJSON bool) error {
	switch {
	case asJSON:
		return writeJSON(c.OutOrStdout(), map[string]bool{"approvals": on})
	case on:
		fmt.Fprintln(c.OutOrStdout(), "Approvals are on.")
	default:
		fmt.Fprintln(c.OutOrStdout(), "Approvals are off.")
		sayApprovalsOff(c.ErrOrStderr())
	}
	return nil
}

func sayApprovalsOff(w io.Writer) { fmt.Fprintln(w, approvalsOffBanner) }

// warnApprovals says loudly that nobody is asked, if that is so. A switch that cannot be
// read is on.
func warnApprovals(c *cobra.Command, s *store.Store) {
	if on, err := s.Approvals(c.Context()); err == nil && !on {
		sayApprovalsOff(c.ErrOrStderr())
	}
}
