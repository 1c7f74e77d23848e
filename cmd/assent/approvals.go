package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/store"
)

func approvalsCmd() *cobra.Command {
	var k storeFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "approvals [on|off]",
		Short: "Enable or disable approvals",
		Long: "approvals is the master switch. While approvals are off, whatever would be asked runs without a\n" +
			"question, as with --approve-all. Denies still hold, requests that only a person may answer still wait,\n" +
			"and everything is still recorded. Without an argument the command prints the current state.",
		Example: "  assent approvals\n" +
			"  assent approvals off\n" +
			"  assent approvals on",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"on", "off"},
		RunE: func(c *cobra.Command, args []string) error {
			var s *store.Store // nil if there is none
			var err error
			if len(args) == 0 {
				s, err = k.reading(c.Context())
				err = ifAny(err)
			} else if s, err = k.changing(c); err == nil {
				err = s.SetApprovals(c.Context(), args[0] == "on")
			}
			if s != nil {
				defer s.Close()
			}
			if err != nil {
				return err
			}
			return printApprovals(c, s, asJSON)
		},
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
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
	open.SayApprovalsOff(c.ErrOrStderr(), off)
	return nil
}

// approvalsOff is [open.ApprovalsOff] for this user.
func approvalsOff(ctx context.Context, s *store.Store) (turnOn string, err error) {
	user, err := userConfig()
	if err != nil {
		return "", err
	}
	return open.ApprovalsOff(ctx, user, s)
}

// warnApprovals says loudly that nobody is asked, if that is so.
func warnApprovals(c *cobra.Command, s *store.Store) {
	if off, err := approvalsOff(c.Context(), s); err == nil && off != "" {
		open.SayApprovalsOff(c.ErrOrStderr(), off)
	}
}
