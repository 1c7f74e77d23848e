package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// rulesFlags are what all commands about rules take.
type rulesFlags struct {
	storeFlags
	json bool
}

func rulesCmd() *cobra.Command {
	var flags rulesFlags
	c := &cobra.Command{
		Use:   "rules",
		Short: "Show and change what is always allowed or denied",
		Long: "Rules answer calls without a question. Denies are looked at first, then allows, then what was\n" +
			"approved for the session; otherwise a person is asked.\n\n" +
			"  allow write_file(notes/**)     a tool or act, and what it may be done to\n" +
			"  deny shell(git push)           commands that begin with these words\n" +
			"  allow github:search_*          tools of a connector\n" +
			"  deny connector github          all tools of a connector",
		Example: "  assent rules list\n" +
			"  assent rules add 'deny shell(git push)' --because 'ask me first'\n" +
			"  assent rules suggest",
	}
	flags.register(c)
	c.PersistentFlags().BoolVar(&flags.json, "json", false, "print JSON")
	c.AddCommand(rulesListCmd(&flags), rulesAddCmd(&flags), rulesRemoveCmd(&flags), rulesSwitchCmd(&flags, true),
		rulesSwitchCmd(&flags, false), rulesEditCmd(&flags), rulesImportCmd(&flags), rulesExportCmd(&flags),
		rulesTryCmd(&flags), rulesSuggestCmd(&flags))
	return c
}

// kept returns the rules that are kept; none if there is no store.
func (f *rulesFlags) kept(c *cobra.Command) ([]policy.Rule, error) {
	var rules []policy.Rule
	err := f.read(c.Context(), func(s *store.Store) (err error) {
		warnApprovals(c, s)
		rules, err = plainRules(c.Context(), s)
		return err
	})
	return rules, ifAny(err)
}

// plainRules returns the rules of a store, in order.
func plainRules(ctx context.Context, s *store.Store) ([]policy.Rule, error) {
	set, err := s.Rules(ctx)
	return set.Rules(), err
}

func rulesListCmd(flags *rulesFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the saved rules, in the order they apply",
		Example: "  assent rules list\n" +
			"  assent rules list --json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			rules, err := flags.kept(c)
			if err != nil {
				return err
			}
			return flags.print(c, rules)
		},
	}
}

// print prints rules as they were asked for.
func (f *rulesFlags) print(c *cobra.Command, rules []policy.Rule) error {
	if f.json {
		return rulebook.WriteJSON(c.OutOrStdout(), rules)
	}
	return rulebook.List(c.OutOrStdout(), rules, time.Now())
}

func rulesRemoveCmd(flags *rulesFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "remove ID...",
		Aliases: []string{"rm"},
		Short:   "Remove rules, named by id, the start of it, or their text",
		Example: "  assent rules remove 4QX7MD\n  assent rules remove 'allow shell(npm test)'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.each(c, args, "Removed", func(ctx context.Context, s *store.Store, r *policy.Rule) error {
				return s.RemoveRule(ctx, r.ID)
			})
		},
	}
}

func rulesSwitchCmd(flags *rulesFlags, on bool) *cobra.Command {
	use, short, done := "enable ID...", "Enable rules that were disabled", "Enabled"
	if !on {
		use, short, done = "disable ID...", "Disable rules without removing them", "Disabled"
	}
	return &cobra.Command{
		Use: use, Short: short, Example: "  assent rules " + strings.Fields(use)[0] + " 4QX7MD",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.each(c, args, done, func(ctx context.Context, s *store.Store, r *policy.Rule) error {
				r.Enabled = on
				return s.EnableRule(ctx, r.ID, on)
			})
		},
	}
}

// each does something to the rules that were named, after all of them were found.
func (f *rulesFlags) each(c *cobra.Command, words []string, done string,
	do func(context.Context, *store.Store, *policy.Rule) error) error {
	s, err := f.changing(c)
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := plainRules(c.Context(), s)
	if err != nil {
		return err
	}
	var found []policy.Rule
	for _, word := range words {
		r, err := rulebook.Find(all, word)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(found, func(f policy.Rule) bool { return f.ID == r.ID }) {
			found = append(found, r)
		}
	}
	for i := range found {
		if err := do(c.Context(), s, &found[i]); err != nil {
			return err
		}
		if !f.json {
			fmt.Fprintf(c.OutOrStdout(), "%s: %s (%s)\n", done, shownText(found[i].String()), shownText(found[i].Where()))
		}
	}
	if f.json {
		return rulebook.WriteJSON(c.OutOrStdout(), found)
	}
	return nil
}

// policyFlag is the policy that tools are made of, for commands that try calls.
func policyFlag(c *cobra.Command, file *string) {
	c.Flags().StringVarP(file, "config", "c", "", "the policy file whose tools, roots and rules apply")
}

// openFileOrInput opens a file, or standard input if it is called "-".
func openFileOrInput(c *cobra.Command, name string) (io.Reader, func() error, error) {
	if name == "-" {
		return c.InOrStdin(), func() error { return nil }, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}
