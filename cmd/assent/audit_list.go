package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/setup/open"
)

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
	// At most every second record is a start that is left out.
	if wanted.Last = limit; !all {
		wanted.Last = 2 * limit
	}
	var records []approval.Record
	for r, err := range s.Records(c.Context(), wanted) {
		if err != nil {
			return err
		}
		if all || r.Kind != approval.EventStarted || r.Unended {
			records = append(records, r)
		}
	}
	if limit > 0 && len(records) > limit {
		records = records[len(records)-limit:]
	}
	if len(records) == 0 && !flags.json {
		fmt.Fprintln(c.OutOrStdout(), "Nothing has been decided.")
	}
	return printRecords(c.OutOrStdout(), flags.json, func(yield func(approval.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	})
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
	return printRecords(c.OutOrStdout(), flags.json, s.Follow(c.Context(), wanted))
}

// printRecords prints each record as it comes.
func printRecords(w io.Writer, asJSON bool, records iter.Seq2[approval.Record, error]) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for r, err := range records {
		if err == nil && asJSON {
			err = enc.Encode(r)
		} else if err == nil {
			_, err = fmt.Fprintln(w, auditview.Line(&r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
