package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/store"
)

// auditFlags are what all commands about the audit log take.
type auditFlags struct {
	storeFlags
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
	c.AddCommand(auditListCmd(&flags), auditShowCmd(&flags), auditExportCmd(&flags), auditVerifyCmd(&flags),
		auditSealCmd(&flags), auditStatsCmd(&flags))
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
	c.Flags().StringVar(&f.outcome, "outcome", "",
		"how it was answered or ended, such as denied, auto-approved, failed; or allowed, refused, in whatever way")
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

func auditListCmd(flags *auditFlags) *cobra.Command {
	var filter filterFlags
	var limit int
	var follow, all bool
	c := &cobra.Command{
		Use:   "list",
		Short: "Print what was decided, a line each, the newest last",
		Long: "list prints a line for each call that ended or whose end was not seen. With --follow it goes\n" +
			"on with what any process decides from now on, until it is interrupted.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 0 {
				return misused(c, "--limit %d: it cannot be negative", limit)
			}
			if follow {
				return followRecords(c, flags, filter, limit)
			}
			return listRecords(c, flags, filter, limit, all)
		},
	}
	filter.register(c)
	c.Flags().IntVar(&limit, "limit", 50, "at most so many, the newest; 0 for all, with --follow for none")
	c.Flags().BoolVar(&follow, "follow", false, "go on with what comes, from every process")
	c.Flags().BoolVar(&all, "all", false, "also the starts of calls that have ended")
	return c
}

func listRecords(c *cobra.Command, flags *auditFlags, filter filterFlags, limit int, all bool) error {
	s, err := flags.reading(c.Context())
	if errors.Is(err, open.ErrNoStore) {
		if !flags.json {
			fmt.Fprintln(c.OutOrStdout(), "Nothing has been decided.")
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	warnApprovals(c, s)
	wanted, err := filter.filter(c.Context(), s, time.Now())
	if err != nil {
		return err
	}
	records, err := auditview.Newest(c.Context(), s, wanted, limit, all)
	if err != nil {
		return err
	}
	if len(records) == 0 && !flags.json {
		fmt.Fprintln(c.OutOrStdout(), "Nothing has been decided.")
	}
	for _, r := range records {
		if err := auditview.Record(c.OutOrStdout(), &r, flags.json); err != nil {
			return err
		}
	}
	return nil
}

func followRecords(c *cobra.Command, flags *auditFlags, filter filterFlags, limit int) error {
	s, err := flags.open(c.Context(), open.Store) // others may decide something soon
	if err != nil {
		return err
	}
	defer s.Close()
	warnApprovals(c, s)
	wanted, err := filter.filter(c.Context(), s, time.Now())
	if err != nil {
		return err
	}
	if wanted.Last = limit; limit == 0 {
		seal, err := s.Seal(c.Context()) // nothing of the past
		if err != nil {
			return err
		}
		wanted.After = seal.Seq
	}
	for r, err := range s.Follow(c.Context(), wanted) {
		if err == nil {
			err = auditview.Record(c.OutOrStdout(), &r, flags.json)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func auditShowCmd(flags *auditFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Print all that is kept of a call: its number in the list, its id, or that of its request",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := flags.reading(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			story, err := storyOf(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			if flags.json {
				return writeJSON(c.OutOrStdout(), story)
			}
			return story.Print(c.OutOrStdout())
		},
	}
}

// storyOf collects what is kept of one call.
func storyOf(ctx context.Context, s *store.Store, id string) (auditview.Story, error) {
	var out auditview.Story
	if seq, err := strconv.ParseInt(id, 10, 64); err == nil {
		r, err := s.RecordAt(ctx, seq)
		if err == nil {
			out.Records = []approval.Record{r}
		} else if !errors.Is(err, approval.ErrNoRecord) {
			return out, err
		}
	}
	if len(out.Records) == 0 {
		for r, err := range s.RecordsOf(ctx, id) {
			if err != nil {
				return out, err
			}
			out.Records = append(out.Records, r)
		}
	}
	if len(out.Records) == 0 {
		return out, fmt.Errorf("record %q: %w; 'assent audit list' prints the numbers", id, approval.ErrNoRecord)
	}
	return out, addView(ctx, s, &out)
}

// addView finds what the person was shown, if that is kept.
func addView(ctx context.Context, s *store.Store, story *auditview.Story) error {
	request := story.Records[len(story.Records)-1].Request
	if request == "" {
		return nil
	}
	posted, err := s.Posted(ctx, request)
	if errors.Is(err, approval.ErrUnknownRequest) {
		return nil // it was asked in its own process only
	}
	if err != nil {
		return err
	}
	story.Request = posted.Request
	view, err := posted.Request.View(ctx)
	story.View = &view
	return err
}

func auditStatsCmd(flags *auditFlags) *cobra.Command {
	var filter filterFlags
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count prompts and answers, and which rules do work",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := flags.reading(c.Context())
			if errors.Is(err, open.ErrNoStore) {
				if flags.json {
					return writeJSON(c.OutOrStdout(), store.Stats{})
				}
				_, err = fmt.Fprintln(c.OutOrStdout(), "Nothing has been decided.")
				return err
			}
			if err != nil {
				return err
			}
			defer s.Close()
			wanted, err := filter.filter(c.Context(), s, time.Now())
			if err != nil {
				return err
			}
			stats, err := s.Stats(c.Context(), wanted)
			if err != nil {
				return err
			}
			if flags.json {
				return writeJSON(c.OutOrStdout(), stats)
			}
			rules, err := s.Rules(c.Context())
			if err != nil {
				return err
			}
			return auditview.Stats(c.OutOrStdout(), plotStyle(c), stats, rules.Rules())
		},
	}
	filter.register(c)
	return c
}

// plotStyle is what standard output can show.
func plotStyle(c *cobra.Command) auditview.Style {
	columns := 0
	if f, ok := c.OutOrStdout().(*os.File); ok && term.IsTerminal(f) {
		columns = term.Columns(f)
	}
	return auditview.DetectStyle(columns, os.Getenv)
}
