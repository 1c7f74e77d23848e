package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/server"
)

func groupsCmd() *cobra.Command {
	var flags teamFlags
	c := &cobra.Command{
		Use:   "groups",
		Short: "Manage the groups of a team",
		Long: "A team's policy names groups, such as '2 of sre'. These commands change in the server's database who is in\n" +
			"which group, and for how long. A change takes effect when 'assent policy publish' signs it into a bundle.",
		Example: "  assent groups add sre ann bob\n" +
			"  assent groups add oncall bob --until 7d\n" +
			"  assent groups list",
	}
	flags.register(c)
	c.AddCommand(groupsAddCmd(&flags), groupsRemoveCmd(&flags), groupsListCmd(&flags))
	return c
}

// checkGroup refuses what no group can be called, also the words that mean somebody of their own.
func checkGroup(c *cobra.Command, name string) error {
	if !server.ValidName("._-", name) || name == "sponsor" || name == "editor" {
		return misused(c, "invalid group name %q: use lower-case letters, digits, ., - and _, "+
			"but not sponsor or editor, which policies use", name)
	}
	return nil
}

func groupsAddCmd(flags *teamFlags) *cobra.Command {
	var from, until string
	c := &cobra.Command{
		Use:   "add GROUP [PERSON...]",
		Short: "Make a group, and put people into it",
		Long: "add makes the group if it does not exist, and puts people into it. --from and --until limit how long they\n" +
			"belong to it. For somebody who is in the group already, this changes the time.",
		Example: "  assent groups add sre ann bob\n  assent groups add oncall bob --from 2027-01-04 --until 2027-01-11",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkGroup(c, args[0]); err != nil {
				return err
			}
			now := time.Now()
			member := db.Membership{Source: whoRuns()}
			var err error
			if member.From, err = parseTeamTime(c, "--from", from, now); err != nil {
				return err
			}
			if member.Until, err = parseTeamTime(c, "--until", until, now); err != nil {
				return err
			}
			if !member.Until.IsZero() && !member.Until.After(member.From) {
				return misused(c, "--until must be after --from")
			}
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				var ids []string
				for _, word := range args[1:] { // all of them, before anything changes
					p, err := activePerson(ctx, d, word)
					if err != nil {
						return err
					}
					ids = append(ids, p.ID)
				}
				if err := d.AddGroup(ctx, args[0]); err != nil {
					return err
				}
				for _, id := range ids {
					member.Person = id
					if err := d.SetMember(ctx, args[0], member); err != nil {
						return err
					}
				}
				group, err := findGroup(ctx, d, args[0])
				if err != nil {
					return err
				}
				return flags.said(c, group, "The group %s has %s. %s", args[0], members(group), afterwards)
			})
		},
	}
	c.Flags().StringVar(&from, "from", "", "when it begins: 12h, 7d or a date (default: now)")
	c.Flags().StringVar(&until, "until", "", "when it ends: 12h, 7d or a date (default: never)")
	return c
}

// members counts the members of a group.
func members(g db.Group) string {
	if len(g.Members) == 1 {
		return "1 member"
	}
	return fmt.Sprintf("%d members", len(g.Members))
}

func findGroup(ctx context.Context, d *db.DB, name string) (db.Group, error) {
	all, err := d.Groups(ctx)
	if err != nil {
		return db.Group{}, err
	}
	for _, g := range all {
		if g.Name == name {
			return g, nil
		}
	}
	return db.Group{}, fmt.Errorf("unknown group %q; see 'assent groups list'", name)
}

func groupsRemoveCmd(flags *teamFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "remove GROUP [PERSON...]",
		Aliases: []string{"rm"},
		Short:   "Take people out of a group, or remove the group",
		Example: "  assent groups remove sre bob\n  assent groups remove sre",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				group, err := findGroup(ctx, d, args[0])
				if err != nil {
					return err
				}
				if len(args) == 1 {
					if err := d.RemoveGroup(ctx, group.Name); err != nil {
						return err
					}
					return flags.said(c, group, "Removed the group %s with %s. %s", group.Name, members(group), afterwards)
				}
				var ids []string
				for _, word := range args[1:] { // all of them, before anything changes
					p, err := findPerson(ctx, d, word)
					if err != nil {
						return err
					}
					if !slices.ContainsFunc(group.Members, func(m db.Membership) bool { return m.Person == p.ID }) {
						return fmt.Errorf("%s is not in %s; see 'assent groups list'", p.ID, group.Name)
					}
					ids = append(ids, p.ID)
				}
				for _, id := range ids {
					if err := d.RemoveMember(ctx, group.Name, id); err != nil && !errors.Is(err, db.ErrNotFound) {
						return err
					}
				}
				if group, err = findGroup(ctx, d, args[0]); err != nil {
					return err
				}
				return flags.said(c, group, "The group %s has %s. %s", group.Name, members(group), afterwards)
			})
		},
	}
}

func groupsListCmd(flags *teamFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the groups with their members", Example: "  assent groups list", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.do(c, func(ctx context.Context, d *db.DB) error {
				groups, err := d.Groups(ctx)
				if err != nil {
					return err
				}
				if groups == nil {
					groups = []db.Group{}
				}
				now, err := d.Now(ctx)
				if err != nil {
					return err
				}
				return flags.print(c, groups, func(line func(...string)) {
					if len(groups) == 0 {
						line("There are no groups; 'assent groups add' makes one.")
					}
					for _, g := range groups {
						line(g.Name, members(g))
						for _, m := range g.Members {
							line("  "+m.Person, "added by "+m.Source, memberTime(m, now))
						}
					}
				})
			})
		},
	}
}

func memberTime(m db.Membership, now time.Time) string {
	switch {
	case m.From.After(now):
		return "from " + teamTime(m.From, "") + " until " + teamTime(m.Until, "no end")
	case !m.Until.IsZero() && !m.Until.After(now):
		return "ended " + teamTime(m.Until, "")
	case !m.Until.IsZero():
		return "until " + teamTime(m.Until, "")
	}
	return ""
}
