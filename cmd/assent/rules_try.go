package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/store"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
)

// tryFlags say which rules are tried, and on what.
type tryFlags struct {
	edits               rulebook.Edits
	file, policy, calls string
	filter              auditview.Filter
}

func rulesTryCmd(flags *rulesFlags) *cobra.Command {
	var try tryFlags
	c := &cobra.Command{
		Use:   "test",
		Short: "Try rules on past calls, or on a file of calls",
		Long: "test prints what would change: how many questions fewer, what would now be allowed and what would now\n" +
			"be denied. It tries the saved rules, with the changes given as flags, on the audit log or on a file\n" +
			"with one call per line, {\"tool\": …, \"args\": {…}}. Examples under expect: in the file are checked too.\n" +
			"\n" +
			"It exits with status 1 if something would run that was denied, or if an example fails.",
		Example: "  assent rules test --add 'allow shell(npm test)'\n" +
			"  assent rules test --file new-rules.yaml --since 30d\n" +
			"  assent rules test -c policy.yaml --calls calls.jsonl --add 'deny shell(git push)'",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return tryRules(c, flags, try) },
	}
	c.Flags().StringArrayVar(&try.edits.Add, "add", nil, "with this rule as well; may be repeated")
	c.Flags().StringArrayVar(&try.edits.Remove, "remove", nil, "without this rule; may be repeated")
	c.Flags().StringVar(&try.file, "file", "", "with the rules of this file as well; its expect: examples are checked")
	c.Flags().BoolVar(&try.edits.Only, "only", false, "with --file: with no other rules")
	c.Flags().StringVar(&try.calls, "calls", "", "try them on this file of calls; - is standard input")
	policyFlag(c, &try.policy)
	registerFilter(c, &try.filter)
	return c
}

func tryRules(c *cobra.Command, flags *rulesFlags, try tryFlags) error {
	current, err := flags.kept(c)
	if err != nil {
		return err
	}
	var expect []config.Expectation
	if try.file != "" {
		conf, err := setup.Named(c.Context(), try.file, "")
		if err != nil {
			return err
		}
		try.edits.File, expect = append([]policy.Rule{}, conf.Rules.Rules()...), conf.Expect
	}
	before, after, err := try.edits.Apply(current)
	if err != nil {
		return err
	}
	explainer, closing, err := try.explainer(c.Context(), flags.state, after, len(expect) > 0)
	if err != nil {
		return err
	}
	defer closing()
	out := rulebook.Trial{Examples: []rulebook.Check{}}
	if out.Report, err = try.compare(c, flags, before, after, explainer); err != nil {
		return err
	}
	if len(expect) > 0 {
		out.Examples = rulebook.Expect(c.Context(), explainer, expect)
	}
	if flags.json {
		err = writeJSON(c.OutOrStdout(), out)
	} else {
		err = out.Print(c.OutOrStdout())
	}
	if err != nil {
		return err
	}
	if n := out.Findings(); n > 0 {
		return fmt.Errorf("%d findings: what is marked with ! was denied and would run, or is not as expected", n)
	}
	return nil
}

// explainer prepares calls with the tools of a policy, if that is needed.
func (f *tryFlags) explainer(ctx context.Context, state string, after *policy.RuleSet,
	needed bool) (*explain.Explainer, func() error, error) {
	conf := f.policy
	switch {
	case conf == "" && f.calls != "":
		return nil, nil, errors.New("--calls: what a call would do depends on a policy; name it with -c")
	case conf == "" && needed:
		conf = f.file // it may have roots and a shell of its own
	case conf == "":
		return nil, func() error { return nil }, nil
	}
	s, err := setup.Named(ctx, conf, state)
	if err != nil {
		return nil, nil, err
	}
	base, err := open.Open(ctx, s, open.Order{Use: open.Look})
	if err != nil {
		return nil, nil, err
	}
	e, closeTools, err := base.Explainer(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, base.Close())
	}
	closing := func() error { return errors.Join(closeTools(), base.Close()) }
	if e.Policy.Rules = after; f.policy == "" {
		e.Policy.Fixed = nil // they are among those that are tried
	}
	return e, closing, nil
}

// compare tries the rules on the file of calls or on the log.
func (f *tryFlags) compare(c *cobra.Command, flags *rulesFlags, before, after *policy.RuleSet,
	e *explain.Explainer) (rulebook.Report, error) {
	now := policy.Policy{Rules: after}
	if e != nil {
		now.Fixed = e.Policy.Fixed
	}
	var then *policy.Policy
	if before != nil {
		then = &policy.Policy{Rules: before, Fixed: now.Fixed}
	}
	comparison := rulebook.Compare(then, now, time.Now())
	if f.calls == "" {
		err := flags.records(c.Context(), f.filter, func(s *store.Store, wanted approval.RecordFilter) error {
			return comparison.AddRecords(s.Records(c.Context(), wanted))
		})
		return comparison.Report(), err
	}
	in, closing, err := openFileOrInput(c, f.calls)
	if err != nil {
		return rulebook.Report{}, err
	}
	defer closing()
	calls, err := rulebook.ReadCalls(filepath.Base(f.calls), in)
	if err != nil {
		return rulebook.Report{}, err
	}
	comparison.AddCalls(c.Context(), e, calls)
	return comparison.Report(), nil
}
