package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
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
		Short: "Show what was decided, by whom, and why",
		Long: "The audit log records every call, including calls that needed no answer and calls that were blocked.\n" +
			"Each record carries the hash of the one before it, so changes are detected.",
		Example: "  assent audit list\n" +
			"  assent audit show 42\n" +
			"  assent audit stats --since 7d",
	}
	flags.register(c)
	c.PersistentFlags().BoolVar(&flags.json, "json", false, "print JSON")
	c.AddCommand(auditListCmd(&flags), auditShowCmd(&flags), auditExportCmd(&flags), auditVerifyCmd(&flags),
		auditSealCmd(&flags), auditStatsCmd(&flags), auditProveCmd(&flags))
	return c
}

// registerFilter adds the flags that say which records are wanted.
func registerFilter(c *cobra.Command, f *auditview.Filter) {
	c.Flags().StringVar(&f.Since, "since", "", "only since then: 90m, 12h or 30d ago, or a time such as 2026-12-31")
	c.Flags().StringVar(&f.Until, "until", "", "only before then, written as for --since")
	c.Flags().StringVar(&f.Tool, "tool", "", "TOOL or CONNECTOR:TOOL; * and ? work")
	c.Flags().StringVar(&f.Worker, "worker", "", "a worker anywhere in the chain")
	c.Flags().StringVar(&f.Session, "session", "", "the session")
	c.Flags().StringVar(&f.Outcome, "outcome", "",
		"how it was answered or ended, such as denied, auto-approved or failed; allowed and refused match every kind")
	c.Flags().StringVar(&f.Rule, "rule", "", "the id of the rule or grant that decided")
}

func auditListCmd(flags *auditFlags) *cobra.Command {
	var filter auditview.Filter
	var limit int
	var follow, all bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List decisions, newest last",
		Long: "list prints one line for each call that ended, or whose end was never seen. With --follow it keeps\n" +
			"printing what any process decides, until it is interrupted.",
		Example: "  assent audit list --limit 20\n" +
			"  assent audit list --since 12h --outcome denied\n" +
			"  assent audit list --follow --tool 'shell'",
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
	registerFilter(c, &filter)
	c.Flags().IntVar(&limit, "limit", 50, "how many to print, counted from the newest; 0 means all, or none with --follow")
	c.Flags().BoolVar(&follow, "follow", false, "keep printing new decisions of all processes")
	c.Flags().BoolVar(&all, "all", false, "also print the starts of calls that have ended")
	return c
}

func listRecords(c *cobra.Command, flags *auditFlags, filter auditview.Filter, limit int, all bool) error {
	var records []approval.Record
	err := flags.records(c.Context(), filter, func(s *store.Store, wanted approval.RecordFilter) (err error) {
		warnApprovals(c, s)
		records, err = auditview.Newest(c.Context(), s, wanted, limit, all)
		return err
	})
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

func followRecords(c *cobra.Command, flags *auditFlags, filter auditview.Filter, limit int) error {
	s, err := flags.open(c.Context(), open.Store) // others may decide something soon
	if err != nil {
		return err
	}
	defer s.Close()
	warnApprovals(c, s)
	wanted, err := filter.Records(c.Context(), s, time.Now())
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
		Short: "Show everything recorded about one call",
		Long:  "show prints all records of a call. ID is its number in the list, its own id, or the id of its request.",
		Example: "  assent audit show 42\n" +
			"  assent audit show 42 --json",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.read(c.Context(), func(s *store.Store) error {
				story, err := auditview.StoryOf(c.Context(), s, args[0])
				switch {
				case err != nil:
					return err
				case flags.json:
					return writeJSON(c.OutOrStdout(), story)
				}
				return story.Print(c.OutOrStdout())
			})
		},
	}
}

func auditStatsCmd(flags *auditFlags) *cobra.Command {
	var filter auditview.Filter
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count questions, answers and the rules that answered",
		Example: "  assent audit stats\n" +
			"  assent audit stats --since 30d --json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var stats store.Stats
			var rules *policy.RuleSet // nil if there is no store
			err := flags.records(c.Context(), filter, func(s *store.Store, wanted approval.RecordFilter) (err error) {
				if stats, err = s.Stats(c.Context(), wanted); err == nil {
					rules, err = s.Rules(c.Context())
				}
				return err
			})
			switch {
			case err != nil:
				return err
			case flags.json:
				return writeJSON(c.OutOrStdout(), stats)
			case rules == nil:
				_, err = fmt.Fprintln(c.OutOrStdout(), "Nothing has been decided.")
				return err
			}
			return auditview.Stats(c.OutOrStdout(), plotStyle(c), stats, rules.Rules())
		},
	}
	registerFilter(c, &filter)
	return c
}

// plotStyle is what standard output can show.
func plotStyle(c *cobra.Command) auditview.Style {
	columns := 0
	if f, ok := c.OutOrStdout().(*os.File); ok && terminal.IsTerminal(f) {
		columns = terminal.Columns(f)
	}
	return auditview.DetectStyle(columns, os.Getenv)
}
