package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/team/admin"
	"github.com/assent-dev/assent/internal/team/db"
)

func gatesCmd() *cobra.Command {
	var flags teamFlags
	c := &cobra.Command{
		Use:   "gates",
		Short: "Manage the machines of a team",
		Long: "A machine joins with a token that works once. It can ask, and cannot answer. Each machine has a sponsor: the\n" +
			"person behind the agents on it. After a machine has joined, run 'assent policy publish', which signs it into\n" +
			"the team's bundle.",
		Example: "  assent gates invite --sponsor ann\n" +
			"  assent gates list",
	}
	flags.register(c)
	c.AddCommand(gatesInviteCmd(&flags), gatesListCmd(&flags), gatesRevokeCmd(&flags))
	return c
}

func gatesInviteCmd(flags *teamFlags) *cobra.Command {
	var sponsor string
	var lasts time.Duration
	c := &cobra.Command{
		Use:     "invite",
		Short:   "Make a token for one machine to join, and print it once",
		Long:    "invite prints a token for 'assent join' on the new machine. The token works once.",
		Example: "  assent gates invite --sponsor ann\n  assent gates invite --sponsor ann --lasts 15m",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if sponsor == "" {
				return misused(c, "missing --sponsor: the person behind the agents of the machine")
			}
			if lasts <= 0 || lasts > 7*24*time.Hour {
				return misused(c, "--lasts %v: use more than 0 and at most 168h", lasts)
			}
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				p, err := activePerson(ctx, d, sponsor)
				if err != nil {
					return fmt.Errorf("--sponsor: %w", err)
				}
				secret, err := d.JoinToken(ctx, p.ID, whoRuns(), lasts)
				if err != nil {
					return err
				}
				return flags.secret(c, invitation{p.ID, secret, time.Now().Add(lasts).UTC().Truncate(time.Second)},
					"The token for a machine of %s (%s) is shown only now. It works once, in 'assent join', until %s.",
					p.ID, p.Name)
			})
		},
	}
	c.Flags().StringVar(&sponsor, "sponsor", "", "the person behind the agents of the machine")
	c.Flags().DurationVar(&lasts, "lasts", time.Hour, "how long the token can be used")
	return c
}

func gatesListCmd(flags *teamFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the machines with their sponsors and the bundles that they have",
		Example: "  assent gates list", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				gates, err := d.Gates(ctx)
				if err != nil {
					return err
				}
				if gates == nil {
					gates = []db.Gate{}
				}
				now, err := d.Now(ctx)
				if err != nil {
					return err
				}
				return flags.print(c, gates, func(line func(...string)) {
					if len(gates) == 0 {
						line("No machine has joined; 'assent gates invite' makes a token for one.")
					}
					for _, g := range gates {
						line(g.ID, g.User+"@"+g.Host, "sponsor "+g.Sponsor, "key "+admin.Fingerprint(g.Public), gateState(g, now))
					}
				})
			})
		},
	}
}

func gateState(g db.Gate, now time.Time) string {
	switch {
	case !g.Revoked.IsZero():
		return "revoked " + teamTime(g.Revoked, "")
	case g.LeaseUntil.IsZero():
		return "not seen yet"
	case g.LeaseUntil.Before(now):
		return fmt.Sprintf("bundle %d, last seen before %s", g.Serial, teamTime(g.LeaseUntil, ""))
	}
	return fmt.Sprintf("bundle %d, connected", g.Serial)
}

// findGate returns a machine by its id, the beginning of the id, or its host if only one machine has that host.
func findGate(ctx context.Context, d *db.DB, word string) (db.Gate, error) {
	all, err := d.Gates(ctx)
	if err != nil {
		return db.Gate{}, err
	}
	var found []db.Gate
	for _, g := range all {
		if g.ID == word {
			return g, nil
		}
		if strings.HasPrefix(g.ID, word) || g.Host == word && g.Revoked.IsZero() {
			found = append(found, g)
		}
	}
	switch len(found) {
	case 0:
		return db.Gate{}, fmt.Errorf("unknown machine %q; see 'assent gates list'", word)
	case 1:
		return found[0], nil
	}
	return db.Gate{}, fmt.Errorf("%d machines match %q; write the whole id, which 'assent gates list' shows", len(found), word)
}

func gatesRevokeCmd(flags *teamFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke GATE",
		Short: "Revoke a machine",
		Long: "revoke makes the server refuse a machine from now on. GATE is its id, the beginning of its id, or its host.\n" +
			"Other machines learn about it from the next bundle.",
		Example: "  assent gates revoke g_4kq2",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				g, err := findGate(ctx, d, args[0])
				if err != nil {
					return err
				}
				if err := d.RevokeGate(ctx, g.ID); err != nil {
					return err
				}
				if g, err = d.Gate(ctx, g.ID); err != nil {
					return err
				}
				return flags.said(c, g, "Revoked %s (%s). The server refuses it from now on. "+
					"Run 'assent policy publish' to tell other machines.", g.ID, g.Host)
			})
		},
	}
}

func agentsCmd() *cobra.Command {
	var flags teamFlags
	c := &cobra.Command{
		Use:   "agents",
		Short: "Set the person behind an agent",
		Long: "An agent has the sponsor of its machine, unless you set another one here. A policy with 'not: [sponsor]' does\n" +
			"not count the approval of that person.",
		Example: "  assent agents set laptop claude-code --sponsor bob\n" +
			"  assent agents list",
	}
	flags.register(c)
	c.AddCommand(agentsSetCmd(&flags), agentsListCmd(&flags), agentsRemoveCmd(&flags))
	return c
}

func agentsSetCmd(flags *teamFlags) *cobra.Command {
	var sponsor string
	c := &cobra.Command{
		Use:     "set GATE AGENT",
		Short:   "Set the person behind an agent of a machine",
		Example: "  assent agents set laptop claude-code --sponsor bob",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if sponsor == "" {
				return misused(c, "missing --sponsor: the person behind the agent")
			}
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				g, err := findGate(ctx, d, args[0])
				if err != nil {
					return err
				}
				p, err := activePerson(ctx, d, sponsor)
				if err != nil {
					return fmt.Errorf("--sponsor: %w", err)
				}
				a := db.Agent{Gate: g.ID, Name: args[1], Sponsor: p.ID}
				if err := d.SetAgent(ctx, a); err != nil {
					return err
				}
				return flags.said(c, a, "%s is now the sponsor of %s on %s. %s", p.ID, a.Name, g.ID, afterwards)
			})
		},
	}
	c.Flags().StringVar(&sponsor, "sponsor", "", "the person behind the agent")
	return c
}

func agentsRemoveCmd(flags *teamFlags) *cobra.Command {
	return &cobra.Command{
		Use: "remove GATE AGENT", Aliases: []string{"rm"}, Short: "Give an agent the sponsor of its machine again",
		Example: "  assent agents remove laptop claude-code", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				g, err := findGate(ctx, d, args[0])
				if err != nil {
					return err
				}
				err = d.RemoveAgent(ctx, g.ID, args[1])
				if errors.Is(err, db.ErrNotFound) {
					err = fmt.Errorf("%s on %s has no sponsor of its own; see 'assent agents list'", args[1], g.ID)
				}
				if err != nil {
					return err
				}
				return flags.said(c, db.Agent{Gate: g.ID, Name: args[1], Sponsor: g.Sponsor},
					"%s is now the sponsor of %s on %s. %s", g.Sponsor, args[1], g.ID, afterwards)
			})
		},
	}
}

func agentsListCmd(flags *teamFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the agents that have a sponsor of their own", Example: "  assent agents list", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				agents, err := d.Agents(ctx)
				if err != nil {
					return err
				}
				if agents == nil {
					agents = []db.Agent{}
				}
				return flags.print(c, agents, func(line func(...string)) {
					if len(agents) == 0 {
						line("Every agent has the sponsor of its machine.")
					}
					for _, a := range agents {
						line(a.Gate, a.Name, "sponsor "+a.Sponsor)
					}
				})
			})
		},
	}
}
