package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// grantsFlags are what all commands about grants take.
type grantsFlags struct {
	storeFlags
	session string
	json    bool
}

func grantsCmd() *cobra.Command {
	var flags grantsFlags
	c := &cobra.Command{
		Use:   "grants",
		Short: "Show and revoke what was approved for a session",
		Long: "A grant is an approval that holds until its session ends. When you revoke it, it ends at once in the\n" +
			"running session: what it covered is asked again.",
		Example: "  assent grants list\n" +
			"  assent grants revoke 4QX7MD\n" +
			"  assent grants clear",
	}
	flags.register(c)
	c.PersistentFlags().StringVar(&flags.session, "session", "", "only the grants of this session")
	c.PersistentFlags().BoolVar(&flags.json, "json", false, "print JSON")
	c.AddCommand(grantsListCmd(&flags), grantsRevokeCmd(&flags), grantsClearCmd(&flags))
	return c
}

func grantsListCmd(flags *grantsFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the grants of all live sessions",
		Example: "  assent grants list\n" +
			"  assent grants list --json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var all []policy.Grant
			err := ifAny(flags.read(c.Context(), func(s *store.Store) (err error) {
				warnApprovals(c, s)
				all, err = s.AllGrants(c.Context())
				return err
			}))
			if err != nil {
				return err
			}
			return flags.print(c, flags.of(all), "")
		},
	}
}

// of returns the grants of the session that was named, or all.
func (f *grantsFlags) of(all []policy.Grant) []policy.Grant {
	return slices.DeleteFunc(all, func(g policy.Grant) bool {
		return f.session != "" && g.Session != f.session && !strings.HasPrefix(g.Session, f.session)
	})
}

// print prints grants: a list, or what was done to each.
func (f *grantsFlags) print(c *cobra.Command, grants []policy.Grant, done string) error {
	if f.json {
		if grants == nil {
			grants = []policy.Grant{}
		}
		return writeJSON(c.OutOrStdout(), map[string]any{"grants": grants})
	}
	if done == "" {
		return auditview.Grants(c.OutOrStdout(), grants, time.Now())
	}
	for _, g := range grants {
		fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", done, shownText(g.String()))
	}
	return nil
}

func grantsRevokeCmd(flags *grantsFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID...",
		Short:   "Revoke grants, named by id or the start of it",
		Example: "  assent grants revoke 4QX7MD",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.revoke(c, func(all []policy.Grant) (found []policy.Grant, err error) {
				for _, word := range args {
					g, err := findGrant(all, word)
					if err != nil {
						return nil, err
					}
					found = append(found, g)
				}
				return found, nil
			})
		},
	}
}

func grantsClearCmd(flags *grantsFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "clear",
		Short: "Revoke all grants",
		Example: "  assent grants clear\n" +
			"  assent grants clear --session W5RTQA",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.revoke(c, func(all []policy.Grant) ([]policy.Grant, error) { return all, nil })
		},
	}
}

// revoke takes back the grants that are chosen among those that are there.
func (f *grantsFlags) revoke(c *cobra.Command, choose func([]policy.Grant) ([]policy.Grant, error)) error {
	s, err := f.changing(c)
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := s.AllGrants(c.Context())
	if err != nil {
		return err
	}
	chosen, err := choose(f.of(all))
	if err != nil {
		return err
	}
	for _, g := range chosen {
		err := s.RevokeGrant(c.Context(), g.Session, g.ID)
		if err != nil && !errors.Is(err, policy.ErrGrantNotFound) {
			return err
		}
	}
	if len(chosen) == 0 && !f.json {
		fmt.Fprintln(c.OutOrStdout(), "There are no grants.")
		return nil
	}
	return f.print(c, chosen, "Revoked")
}

// findGrant returns the grant that a person means.
func findGrant(all []policy.Grant, word string) (policy.Grant, error) {
	var found []policy.Grant
	for _, g := range all {
		if g.ID == word || rulebook.ShortID(g.ID) == word {
			found = append(found, g)
		}
	}
	if len(found) != 1 {
		return policy.Grant{}, fmt.Errorf("grant %q: %w; 'assent grants list' prints the ids", word,
			policy.ErrGrantNotFound)
	}
	return found[0], nil
}
