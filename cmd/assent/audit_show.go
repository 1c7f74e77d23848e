package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/store"
)

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
		} else if !errors.Is(err, audit.ErrNoRecord) {
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
		return out, fmt.Errorf("record %q: %w; 'assent audit list' prints the numbers", id, audit.ErrNoRecord)
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
