package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
)

func pendingCmd() *cobra.Command {
	var k keeper
	var asJSON bool
	c := &cobra.Command{
		Use:   "pending [ID]",
		Short: "See what waits for an answer",
		Long: "pending lists the questions that wait, of all runs. With an id it shows one in full: what\n" +
			"would happen, and why it is asked.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return pending(c, &k, args, asJSON) },
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func pending(c *cobra.Command, k *keeper, args []string, asJSON bool) error {
	s, err := k.reading(c.Context())
	if err != nil && !errors.Is(err, errNoStore) {
		return err
	}
	var open []approval.Posted
	runs := map[string]string{}
	if s != nil {
		defer s.Close()
		warnApprovals(c, s)
		if open, err = s.Open(c.Context(), ""); err != nil {
			return err
		}
		if runs, err = runsBySession(c.Context(), s); err != nil {
			return err
		}
	}
	if len(args) == 1 {
		r, err := findOpen(open, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(c.OutOrStdout(), r)
		}
		return showRequest(c.Context(), c.OutOrStdout(), r)
	}
	if asJSON {
		requests := []*approval.Request{}
		for _, p := range open {
			requests = append(requests, p.Request)
		}
		return writeJSON(c.OutOrStdout(), requests)
	}
	return listPending(c.OutOrStdout(), open, runs)
}

// runsBySession returns the ids of the runs that were put aside.
func runsBySession(ctx context.Context, s *store.Store) (map[string]string, error) {
	runs, err := s.Runs(ctx)
	out := map[string]string{}
	for _, r := range runs {
		out[r.Session] = r.ID
	}
	return out, err
}

func listPending(w io.Writer, open []approval.Posted, runs map[string]string) error {
	if len(open) == 0 {
		fmt.Fprintln(w, "Nothing waits for an answer.")
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tRUN\tSINCE\tWORKER\tTOOL\tWHAT")
	for _, p := range open {
		r := p.Request
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, runs[r.Call.Session], r.Created.Local().Format("2006-01-02 15:04:05"),
			present.SafeLine(strings.Join(r.Call.Workers, " › ")), present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
	}
	return t.Flush()
}

// findOpen finds an open request by its id or the beginning of it.
func findOpen(open []approval.Posted, id string) (*approval.Request, error) {
	var found *approval.Request
	for _, p := range open {
		switch {
		case p.Request.ID == id:
			return p.Request, nil
		case !strings.HasPrefix(strings.ToUpper(p.Request.ID), strings.ToUpper(id)) || id == "":
		case found != nil:
			return nil, fmt.Errorf("more than one request begins with %q; write more of it", id)
		default:
			found = p.Request
		}
	}
	if found == nil {
		return nil, fmt.Errorf("request %q: %w that waits; 'assent pending' lists them", id, approval.ErrUnknownRequest)
	}
	return found, nil
}

// showRequest prints all that an answer is about.
func showRequest(ctx context.Context, w io.Writer, r *approval.Request) error {
	view, err := r.View(ctx)
	if err != nil {
		return fmt.Errorf("request %s cannot be shown, so it cannot be approved: %w", r.ID, err)
	}
	fmt.Fprintf(w, "%s  %s · %s\n", r.ID, present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
	if len(r.Call.Workers) > 0 {
		fmt.Fprintf(w, "worker: %s\n", present.SafeLine(strings.Join(r.Call.Workers, " › ")))
	}
	fmt.Fprintf(w, "asks because: %s\nsince: %s\nfingerprint: %s\n", present.SafeLine(r.Why), r.Created.Local().Format(time.DateTime), r.Fingerprint)
	for _, i := range r.Open {
		fmt.Fprintf(w, "act: %s\n", present.SafeLine(r.Acts[i].String()))
	}
	_, err = fmt.Fprintf(w, "\n%s\n", strings.TrimSuffix(shownText(view.Content), "\n"))
	return err
}
