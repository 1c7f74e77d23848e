package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
)

func pendingCmd() *cobra.Command {
	var f pendingFlags
	c := &cobra.Command{
		Use:   "pending [ID]",
		Short: "See what waits for an answer",
		Long: "pending lists the questions that wait, of all runs. With an id it shows one in full: what\n" +
			"would happen, and why it is asked. With --args it shows what would happen with other\n" +
			"arguments, for a run that was put aside.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.show(c, args) },
	}
	f.register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().StringVar(&f.args, "args", "", "show the question as it would be with these arguments, as JSON")
	return c
}

type pendingFlags struct {
	keeper
	json bool
	args string
}

// pending lists what waits.
func pending(c *cobra.Command, k *keeper, args []string, asJSON bool) error {
	return (&pendingFlags{keeper: *k, json: asJSON}).show(c, args)
}

func (f *pendingFlags) show(c *cobra.Command, args []string) error {
	if f.args != "" && (len(args) == 0 || !json.Valid([]byte(f.args))) {
		return misused(c, "--args goes with an ID, and is JSON")
	}
	s, err := f.reading(c.Context())
	if err != nil && !errors.Is(err, open.ErrNoStore) {
		return err
	}
	warnRepository(c)
	var open []approval.Posted
	runs := map[string]string{}
	hooks := map[string]approval.Session{}
	if s != nil {
		defer s.Close()
		warnApprovals(c, s)
		if open, err = s.Open(c.Context(), ""); err != nil {
			return err
		}
		if runs, err = runsBySession(c.Context(), s); err != nil {
			return err
		}
		if hooks, err = hookSessions(c.Context(), s); err != nil {
			return err
		}
	}
	switch {
	case len(args) == 1:
		return f.one(c, s, open, runs, hooks, args[0])
	case f.json:
		requests := []*approval.Request{}
		for _, p := range open {
			requests = append(requests, p.Request)
		}
		return writeJSON(c.OutOrStdout(), requests)
	}
	return listPending(c.OutOrStdout(), open, runs, hooks)
}

// one shows one question, as it is or with other arguments.
func (f *pendingFlags) one(c *cobra.Command, s *store.Store, open []approval.Posted, runs map[string]string, hooks map[string]approval.Session, id string) error {
	r, err := findOpen(open, id)
	if err != nil {
		return err
	}
	run := runs[r.Call.Session]
	switch {
	case f.args != "" && run == "":
		return fmt.Errorf("request %s is of a program that is running, and only that can say what it would do; 'assent approve %s --args JSON' has it ask again", r.ID, r.ID)
	case f.args != "":
		if r, err = previewChanged(c, &f.keeper, s, run, r.ID, json.RawMessage(f.args)); err != nil {
			return err
		}
	}
	if f.json {
		return writeJSON(c.OutOrStdout(), r)
	}
	if h, ok := hooks[r.Call.Session]; ok {
		fmt.Fprintf(c.OutOrStdout(), "session of another agent: %s\nproject: %s\n", present.SafeLine(h.ID), present.SafeLine(h.Folder))
	}
	if err := showRequest(c.Context(), c.OutOrStdout(), r); err != nil || f.args == "" {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "\nTo approve exactly this: assent approve %s --expect %s --args JSON\n", r.ID, r.Fingerprint)
	return err
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

// hookSessions returns the sessions of other agents, by their ids.
func hookSessions(ctx context.Context, s *store.Store) (map[string]approval.Session, error) {
	sessions, err := s.Sessions(ctx)
	out := map[string]approval.Session{}
	for _, session := range sessions {
		if session.Kind == approval.SessionHook {
			out[session.ID] = session
		}
	}
	return out, err
}

func listPending(w io.Writer, open []approval.Posted, runs map[string]string, hooks map[string]approval.Session) error {
	if len(open) == 0 {
		fmt.Fprintln(w, "Nothing waits for an answer.")
		return readyRuns(w, runs)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tRUN\tSESSION\tFOLDER\tSINCE\tWORKER\tTOOL\tWHAT")
	for _, p := range open {
		r := p.Request
		agent := hooks[r.Call.Session] // empty for what is not another agent's
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, runs[r.Call.Session], present.SafeLine(agent.ID), present.SafeLine(agent.Folder), r.Created.Local().Format("2006-01-02 15:04:05"),
			present.SafeLine(strings.Join(r.Call.Workers, " › ")), present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	ready := maps.Clone(runs)
	for _, p := range open {
		delete(ready, p.Request.Call.Session)
	}
	return readyRuns(w, ready)
}

// readyRuns names the runs that wait for nothing: all is answered, or their program was ended.
func readyRuns(w io.Writer, runs map[string]string) error {
	for _, run := range slices.Sorted(maps.Values(runs)) {
		if _, err := fmt.Fprintf(w, "Run %s has all its answers. Unless it is under way: assent resume %s\n", run, run); err != nil {
			return err
		}
	}
	return nil
}

// leastOfID is how much of an id is needed: with less, an answer could go to a question that
// came after the one that was meant.
const leastOfID = 6

// findOpen finds an open request by its id or the beginning of it.
func findOpen(open []approval.Posted, id string) (*approval.Request, error) {
	var found *approval.Request
	for _, p := range open {
		switch {
		case p.Request.ID == id:
			return p.Request, nil
		case !strings.HasPrefix(strings.ToUpper(p.Request.ID), strings.ToUpper(id)) || id == "":
		case len(id) < leastOfID:
			return nil, fmt.Errorf("%q is too little of an id; write %d characters of it at least", id, leastOfID)
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
	for _, fact := range view.Facts {
		fmt.Fprintf(w, "%s: %s\n", present.SafeLine(fact.Name()), present.SafeLine(fact.Value()))
	}
	_, err = fmt.Fprintf(w, "\n%s\n", strings.TrimSuffix(shownText(view.Content), "\n"))
	return err
}
