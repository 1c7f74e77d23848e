package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/replay"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
)

// tryFlags say which rules are tried, and on what.
type tryFlags struct {
	add, remove         []string
	file, policy, calls string
	only                bool
	filter              filterFlags
}

func rulesTryCmd(flags *rulesFlags) *cobra.Command {
	var try tryFlags
	c := &cobra.Command{
		Use:   "test",
		Short: "Try rules on the calls of the past, or on a file of calls",
		Long: "test says what would change: how many prompts fewer, what would now be allowed, what would\n" +
			"now be denied. It tries the rules that are kept, with the changes that the flags say, on\n" +
			"the audit log, or on a file with one call a line, {\"tool\": …, \"args\": {…}}. Examples under\n" +
			"expect: in the file are checked too.\n\n" +
			"It ends with status 1 if something would run that was denied, or an example fails.",
		Example: "  assent rules test --add 'allow shell(npm test)'\n" +
			"  assent rules test --file new-rules.yaml --since 30d\n" +
			"  assent rules test -c policy.yaml --calls calls.jsonl --add 'deny shell(git push)'",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return tryRules(c, flags, try) },
	}
	c.Flags().StringArrayVar(&try.add, "add", nil, "with this rule as well; may be repeated")
	c.Flags().StringArrayVar(&try.remove, "remove", nil, "without this rule; may be repeated")
	c.Flags().StringVar(&try.file, "file", "", "with the rules of this file as well; its expect: examples are checked")
	c.Flags().BoolVar(&try.only, "only", false, "with --file: with no other rules")
	c.Flags().StringVar(&try.calls, "calls", "", "try them on this file of calls; - is standard input")
	policyFlag(c, &try.policy)
	try.filter.register(c)
	return c
}

// trial is what was found out, as JSON.
type trial struct {
	replay.Report
	Examples []replay.Check `json:"examples"`
}

func (t *trial) findings() int {
	n := t.Findings
	for _, e := range t.Examples {
		if !e.OK() {
			n++
		}
	}
	return n
}

func tryRules(c *cobra.Command, flags *rulesFlags, try tryFlags) error {
	current, err := flags.kept(c)
	if err != nil {
		return err
	}
	before, after, expect, err := try.rules(current)
	if err != nil {
		return err
	}
	explainer, closing, err := try.explainer(c.Context(), flags.state, after, len(expect) > 0)
	if err != nil {
		return err
	}
	defer closing()
	out := trial{Examples: []replay.Check{}}
	if out.Report, err = try.compare(c, flags, before, after, explainer); err != nil {
		return err
	}
	if len(expect) > 0 {
		out.Examples = replay.Expect(c.Context(), explainer, expect)
	}
	if err := out.print(c, flags.json); err != nil {
		return err
	}
	if n := out.findings(); n > 0 {
		return fmt.Errorf("%d findings: what is marked with ! was denied and would run, or is not as expected", n)
	}
	return nil
}

// rules returns the rules that are kept, those to be tried, and the examples. Before is nil
// if nothing is to be changed.
func (f *tryFlags) rules(current []policy.Rule) (before, after *policy.RuleSet, expect []config.Expectation, err error) {
	tried := slices.Clone(current)
	if f.only {
		tried = nil
	}
	for _, word := range f.remove {
		e, err := rulebook.Find(current, word)
		if err != nil {
			return nil, nil, nil, err
		}
		tried = slices.DeleteFunc(tried, func(t policy.Rule) bool { return t.ID == e.ID })
	}
	rules := tried
	for _, text := range f.add {
		rule, err := policy.ParseRule(text)
		if err != nil {
			return nil, nil, nil, err
		}
		rules = append(rules, rule)
	}
	if f.file != "" {
		conf, err := namedPolicy(context.Background(), f.file, "")
		if err != nil {
			return nil, nil, nil, err
		}
		rules, expect = append(rules, conf.Rules.Rules()...), conf.Expect
	}
	if after, err = policy.CompileRules(rules); err != nil {
		return nil, nil, nil, err
	}
	if len(f.add)+len(f.remove) == 0 && f.file == "" {
		return nil, after, expect, nil
	}
	before, err = policy.CompileRules(current)
	return before, after, expect, err
}

// explainer prepares calls with the tools of a policy, if that is needed.
func (f *tryFlags) explainer(ctx context.Context, state string, after *policy.RuleSet, needed bool) (*explain.Explainer, func() error, error) {
	conf := f.policy
	switch {
	case conf == "" && f.calls != "":
		return nil, nil, errors.New("--calls: what a call would do depends on a policy; name it with -c")
	case conf == "" && needed:
		conf = f.file // it may have roots and a shell of its own
	case conf == "":
		return nil, func() error { return nil }, nil
	}
	s, err := namedPolicy(ctx, conf, state)
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
func (f *tryFlags) compare(c *cobra.Command, flags *rulesFlags, before, after *policy.RuleSet, e *explain.Explainer) (replay.Report, error) {
	now := policy.Policy{Rules: after}
	if e != nil {
		now.Fixed = e.Policy.Fixed
	}
	var then *policy.Policy
	if before != nil {
		then = &policy.Policy{Rules: before, Fixed: now.Fixed}
	}
	comparison := replay.Compare(then, now, time.Now())
	var err error
	if f.calls != "" {
		err = f.addCalls(c, comparison, e)
	} else {
		err = f.addRecords(c.Context(), flags, comparison)
	}
	return comparison.Report(), err
}

func (f *tryFlags) addCalls(c *cobra.Command, comparison *replay.Comparison, e *explain.Explainer) error {
	in, closing, err := openFileOrInput(c, f.calls)
	if err != nil {
		return err
	}
	defer closing()
	calls, err := replay.ReadCalls(filepath.Base(f.calls), in)
	if err != nil {
		return err
	}
	for _, call := range calls {
		if k, err := replay.Prepare(c.Context(), e.Tools, call); err == nil {
			comparison.Add(k)
		} else {
			comparison.Skip()
		}
	}
	return nil
}

func (f *tryFlags) addRecords(ctx context.Context, flags *rulesFlags, comparison *replay.Comparison) error {
	s, err := flags.reading(ctx)
	if errors.Is(err, open.ErrNoStore) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	filter, err := f.filter.filter(ctx, s, time.Now())
	if err != nil {
		return err
	}
	for r, err := range s.Records(ctx, filter) {
		if err != nil {
			return err
		}
		k, ok := replay.FromRecord(&r)
		switch {
		case ok:
			comparison.Add(k)
		case r.Kind == approval.EventEnded:
			comparison.Skip()
		}
	}
	return nil
}

func (t *trial) print(c *cobra.Command, asJSON bool) error {
	if asJSON {
		return writeJSON(c.OutOrStdout(), t)
	}
	if err := t.Report.Print(c.OutOrStdout()); err != nil {
		return err
	}
	if len(t.Examples) == 0 {
		return nil
	}
	return replay.PrintChecks(c.OutOrStdout(), t.Examples)
}
