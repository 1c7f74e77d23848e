package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/store"
)

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
	if err != nil && !errors.Is(err, open.ErrNoStore) {
		return err
	}
	if s != nil {
		defer s.Close()
	}
	return printApprovals(c, s, asJSON)
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
	return printApprovals(c, s, asJSON)
}

// printApprovals says how the switch stands.
func printApprovals(c *cobra.Command, s *store.Store, asJSON bool) error {
	off, err := approvalsOff(c.Context(), s)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(c.OutOrStdout(), map[string]bool{"approvals": off == ""})
	}
	if off == "" {
		fmt.Fprintln(c.OutOrStdout(), "Approvals are on.")
		return nil
	}
	fmt.Fprintln(c.OutOrStdout(), "Approvals are off.")
	sayApprovalsOff(c.ErrOrStderr(), off)
	return nil
}

// approvalsOff says how asking is turned on again, if it is off: by the command, or by the
// user's own config. The store may be nil. With an error nobody may take it for off.
func approvalsOff(ctx context.Context, s *store.Store) (turnOn string, err error) {
	user, err := userConfig()
	if err != nil {
		return "", err
	}
	if user.ApprovalsOff {
		return "take approvals: false out of your config.yaml", nil
	}
	if s == nil {
		return "", nil
	}
	on, err := s.Approvals(ctx)
	if err != nil || on {
		return "", err
	}
	return "assent approvals on", nil
}

func sayApprovalsOff(w io.Writer, turnOn string) {
	fmt.Fprintln(w, "WARNING: approvals are OFF: what would be asked runs without a question.")
	fmt.Fprintln(w, "         What is blocked, deny rules and the audit log still hold. Turn them on:", turnOn)
}

// warnApprovals says loudly that nobody is asked, if that is so.
func warnApprovals(c *cobra.Command, s *store.Store) {
	if off, err := approvalsOff(c.Context(), s); err == nil && off != "" {
		sayApprovalsOff(c.ErrOrStderr(), off)
	}
}
