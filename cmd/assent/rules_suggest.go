package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/assent-dev/assent/internal/auditview"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
)

// suggestFlags say what is looked for, and what is done about it.
type suggestFlags struct {
	rulebook.SuggestOptions
	apply  int
	policy string
	filter auditview.Filter
}

func rulesSuggestCmd(flags *rulesFlags) *cobra.Command {
	var sf suggestFlags
	c := &cobra.Command{
		Use:   "suggest",
		Short: "Suggest rules for what you approve again and again",
		Long: "suggest searches the audit log for the smallest rules that would have answered repeated approvals, and\n" +
			"says how many questions each would have saved. None of them would have allowed anything that you\n" +
			"denied. At a terminal, press a key to save one; elsewhere use --apply.",
		Example: "  assent rules suggest\n" +
			"  assent rules suggest --since 30d --min 5\n" +
			"  assent rules suggest --apply 1",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return suggestRules(c, flags, sf) },
	}
	c.Flags().IntVar(&sf.Min, "min", rulebook.DefaultSuggestMin, "how many questions a rule must have answered")
	c.Flags().IntVar(&sf.Most, "limit", 10, "how many to print, best first; 0 means all")
	c.Flags().IntVar(&sf.apply, "apply", 0, "save the suggestion with this number")
	policyFlag(c, &sf.policy)
	registerFilter(c, &sf.filter)
	return c
}

func suggestRules(c *cobra.Command, flags *rulesFlags, sf suggestFlags) error {
	opening := flags.reading
	if sf.apply > 0 {
		opening = func(context.Context) (*store.Store, error) { return flags.changing(c) }
	}
	s, err := opening(c.Context())
	if err != nil && !errors.Is(err, open.ErrNoStore) {
		return err
	}
	found := []rulebook.Suggestion{}
	if s != nil {
		defer s.Close()
		warnApprovals(c, s)
		if found, err = sf.find(c.Context(), s); err != nil {
			return err
		}
	}
	switch {
	case sf.apply > 0:
		return applySuggestion(c, flags, s, found, sf.apply)
	case flags.json:
		return writeJSON(c.OutOrStdout(), map[string]any{"suggestions": found})
	}
	return sf.show(c, flags, found)
}

// find looks for suggestions in the log.
func (f *suggestFlags) find(ctx context.Context, s *store.Store) ([]rulebook.Suggestion, error) {
	filter, err := f.filter.Records(ctx, s, time.Now())
	if err != nil {
		return nil, err
	}
	if f.Policy.Rules, err = s.Rules(ctx); err != nil {
		return nil, err
	}
	if f.policy != "" {
		s, err := setup.Named(ctx, f.policy, "")
		if err != nil {
			return nil, err
		}
		f.Policy.Fixed = s.Rules
	}
	f.Now = time.Now()
	return rulebook.SuggestFrom(s.Records(ctx, filter), f.SuggestOptions)
}

// show prints the suggestions; a person at a terminal may keep one after the other.
func (f *suggestFlags) show(c *cobra.Command, flags *rulesFlags, found []rulebook.Suggestion) error {
	if len(found) == 0 {
		fmt.Fprintln(c.OutOrStdout(), "There is nothing to suggest: no small rule would answer what was approved "+
			"repeatedly.")
	}
	for i, s := range found {
		if err := s.Print(c.OutOrStdout(), i+1); err != nil {
			return err
		}
		if !atTerminal(c) {
			continue
		}
		key, err := terminal.AskKey(os.Stdin, c.ErrOrStderr(), "   Save it?", "ynq")
		switch {
		case err != nil:
			return err
		case key == 'q':
			return nil
		case key != 'y':
			continue
		}
		if err := keepOne(c, flags, s); err != nil {
			return err
		}
	}
	if len(found) > 0 && !atTerminal(c) {
		fmt.Fprintf(c.OutOrStdout(), "\nTo save one: %s --apply NUMBER\n", c.CommandPath())
	}
	return nil
}

// keepOne keeps a suggestion that a person just said yes to.
func keepOne(c *cobra.Command, flags *rulesFlags, s rulebook.Suggestion) error {
	kept, err := flags.changing(c)
	if err != nil {
		return err
	}
	defer kept.Close()
	return applySuggestion(c, flags, kept, []rulebook.Suggestion{s}, 1)
}

func applySuggestion(c *cobra.Command, flags *rulesFlags, s *store.Store, found []rulebook.Suggestion,
	number int) error {
	if number > len(found) {
		return fmt.Errorf("--apply %d: there are %d suggestions", number, len(found))
	}
	var rules []policy.Rule
	for _, text := range found[number-1].Rules {
		note := fmt.Sprintf("suggested: would have answered %d prompts", found[number-1].Saves)
		r, err := addFlags{note: note}.rule(text, time.Now())
		if err != nil {
			return err
		}
		r.Project = found[number-1].Project
		rules = append(rules, r)
	}
	if err := s.AddRules(c.Context(), rules...); err != nil {
		return err
	}
	if flags.json {
		return rulebook.WriteJSON(c.OutOrStdout(), rules)
	}
	for _, r := range rules {
		sayAdded(c, r)
	}
	return nil
}
