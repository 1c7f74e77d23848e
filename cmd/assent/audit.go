package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/store"
)

// auditFlags are what all commands about the audit log take.
type auditFlags struct {
	keeper
	json bool
}

func auditCmd() *cobra.Command {
	var flags auditFlags
	c := &cobra.Command{
		Use:   "audit",
		Short: "See what was decided, by whom or what, and why",
		Long: "The audit log has every call, also free, blocked and automatic ones. Each record carries the\n" +
			"hash of the one before, so that a change is noticed.",
	}
	flags.register(c)
	c.PersistentFlags().BoolVar(&flags.json, "json", false, "print JSON")
	c.AddCommand(auditListCmd(&flags), auditShowCmd(&flags), auditExportCmd(&flags), auditVerifyCmd(&flags), auditSealCmd(&flags), auditStatsCmd(&flags))
	return c
}

// filterFlags say which records are wanted.
type filterFlags struct {
	since, until                         string
	tool, worker, session, outcome, rule string
}

func (f *filterFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.since, "since", "", "not before: 90m, 12h, 30d ago, or a time such as 2026-12-31")
	c.Flags().StringVar(&f.until, "until", "", "before: as --since")
	c.Flags().StringVar(&f.tool, "tool", "", "TOOL or CONNECTOR:TOOL; * and ? work")
	c.Flags().StringVar(&f.worker, "worker", "", "a worker anywhere in the chain")
	c.Flags().StringVar(&f.session, "session", "", "the session")
	c.Flags().StringVar(&f.outcome, "outcome", "", "how it was answered or ended, such as denied, auto-approved, failed; or allowed, refused, in whatever way")
	c.Flags().StringVar(&f.rule, "rule", "", "the id of the rule or grant that decided")
}

// filter reads the flags. A rule may be named by the beginning of its id.
func (f *filterFlags) filter(ctx context.Context, s *store.Store, now time.Time) (approval.RecordFilter, error) {
	out := approval.RecordFilter{Tool: f.tool, Worker: f.worker, Session: f.session, Rule: f.rule}
	for _, t := range []struct {
		flag, text string
		into       *time.Time
	}{{"--since", f.since, &out.Since}, {"--until", f.until, &out.Until}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.into, err = auditview.ParseSince(t.text, now); err != nil {
			return out, fmt.Errorf("%s: %w", t.flag, err)
		}
	}
	if f.outcome != "" {
		if err := auditview.FilterOutcome(&out, f.outcome); err != nil {
			return out, fmt.Errorf("--outcome: %w", err)
		}
	}
	if f.rule == "" {
		return out, nil
	}
	set, err := s.Rules(ctx)
	if err != nil {
		return out, err
	}
	for _, r := range set.Rules() {
		if rulebook.ShortID(r.ID) == f.rule {
			out.Rule = r.ID
		}
	}
	return out, nil
}
