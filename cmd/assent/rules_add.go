package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// addFlags are what is said about a new rule.
type addFlags struct {
	because, note, expires string
	wide                   bool
	tools                  int
}

func rulesAddCmd(flags *rulesFlags) *cobra.Command {
	var add addFlags
	c := &cobra.Command{
		Use:   "add RULE",
		Short: "Keep a rule",
		Long: "add keeps a rule from now on, in every process that is running already too. It says what\n" +
			"the rule means for those that are there, and refuses one that is empty, malformed or there\n" +
			"already, and one too many.",
		Example: "  assent rules add 'allow shell(git status)'\n" +
			"  assent rules add 'deny shell(git push)' --because 'use the staging project'\n" +
			"  assent rules add 'allow write_file(drafts/**)' --expires 30d --note 'for the report'",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return addRule(c, flags, add, strings.Join(args, " ")) },
	}
	c.Flags().StringVar(&add.because, "because", "", "the reason, shown to people and told to the model on a denial")
	c.Flags().StringVar(&add.note, "note", "", "a remark for yourself")
	c.Flags().StringVar(&add.expires, "expires", "", "when it ends: 12h, 30d, 2026-12-31, or a time")
	c.Flags().BoolVar(&add.wide, "wide", false, "keep it although it allows nearly everything")
	c.Flags().IntVar(&add.tools, "warn-tools", 3, "warn if it is about more known tools than this")
	return c
}

// added is what add did, as JSON.
type added struct {
	Rule   policy.Rule       `json:"rule"`
	Advice []rulebook.Advice `json:"advice"`
}

func addRule(c *cobra.Command, flags *rulesFlags, add addFlags, text string) error {
	s, err := flags.changing(c)
	if err != nil {
		return err
	}
	defer s.Close()
	out := added{}
	if out.Rule, err = add.rule(text, time.Now()); err == nil {
		out.Advice, err = keepRule(c.Context(), s, out.Rule, add)
	}
	if err != nil {
		return refusedRule(c, flags.json, text, err)
	}
	if flags.json {
		return writeJSON(c.OutOrStdout(), out)
	}
	for _, a := range out.Advice {
		fmt.Fprintln(c.ErrOrStderr(), "assent: warning:", shownText(a.Text))
	}
	fmt.Fprintf(c.OutOrStdout(), "%s is kept: %s\n", rulebook.ShortID(out.Rule.ID), shownText(out.Rule.String()))
	return nil
}

// rule makes the rule of what was written.
func (f addFlags) rule(text string, now time.Time) (policy.Rule, error) {
	rule, err := policy.ParseRule(text)
	if err != nil {
		return policy.Rule{}, err
	}
	rule.ID, rule.Created, rule.Because, rule.Note = rand.Text(), now.UTC().Truncate(time.Second), f.because, f.note
	if f.expires != "" {
		end, err := auditview.ParseUntil(f.expires, now)
		if err != nil {
			return policy.Rule{}, fmt.Errorf("--expires: %w", err)
		}
		rule.Expires = end.UTC().Truncate(time.Second)
	}
	return rule, nil
}

// errWide says that a rule allows nearly everything and nobody said yes to that.
var errWide = errors.New("wide rule")

// keepRule saves a rule and says what is worth knowing about it.
func keepRule(ctx context.Context, s *store.Store, rule policy.Rule, add addFlags) ([]rulebook.Advice, error) {
	known, err := knownTools(ctx, s)
	if err != nil {
		return nil, err
	}
	advice := []rulebook.Advice{}
	warning, err := rulebook.CheckName(rule, known)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		advice = append(advice, rulebook.Advice{Concern: "unknown-tool", Text: warning})
	}
	if text := rulebook.Connects(rule); text != "" {
		advice = append(advice, rulebook.Advice{Concern: rulebook.Connections, Text: text})
	}
	set, err := s.Rules(ctx)
	if err != nil {
		return nil, err
	}
	advice = append(advice, rulebook.Advise(set.Rules(), rule, known, add.tools, time.Now())...)
	if why := rulebook.Wide(rule); why != "" {
		limit, err := ruleLimit()
		if err == nil {
			err = policy.CheckNewRule(set.Rules(), rule, limit) // that is the better reason
		}
		if err == nil && !add.wide {
			err = &policy.RuleError{Err: errWide, Rule: rule.String(), Detail: why + "; if you mean it, say --wide"}
		}
		if err != nil {
			return nil, err
		}
		advice = append(advice, rulebook.Advice{Concern: "wide", Text: why})
	}
	return advice, s.AddRules(ctx, rule)
}

// refusals are the reasons for which a rule is not kept, in a word.
var refusals = []struct {
	err  error
	word string
}{
	{policy.ErrEmptyPattern, "empty"}, {policy.ErrMalformedRule, "malformed"}, {policy.ErrDuplicateRule, "duplicate"},
	{policy.ErrRuleLimit, "limit"}, {rulebook.ErrUnknownTool, "unknown-tool"}, {errWide, "wide"},
}

// refusedRule reports why a rule was not kept; as JSON with the reason in a word.
func refusedRule(c *cobra.Command, asJSON bool, text string, err error) error {
	for _, r := range refusals {
		if !asJSON || !errors.Is(err, r.err) {
			continue
		}
		out := map[string]string{"refused": r.word, "rule": text, "error": err.Error()}
		if err := writeJSON(c.OutOrStdout(), out); err != nil {
			return err
		}
	}
	return err
}
