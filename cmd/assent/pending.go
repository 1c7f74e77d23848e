package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/internal/agents/install"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/store"
)

func pendingCmd() *cobra.Command {
	var f pendingFlags
	c := &cobra.Command{
		Use:   "pending [ID]",
		Short: "List the requests that wait for an answer",
		Long: "pending lists the waiting requests of all runs. With an id it shows one of them in full: what would\n" +
			"happen and why it is asked. With --args it shows what would happen with other arguments, for a run\n" +
			"that was deferred.",
		Example: "  assent pending\n" +
			"  assent pending 4QX7MD\n" +
			"  assent pending 4QX7MD --args '{\"path\": \"notes/a.md\"}'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.show(c, args) },
	}
	f.register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().StringVar(&f.args, "args", "", "show the request as it would be with these arguments (JSON)")
	return c
}

type pendingFlags struct {
	storeFlags
	json bool
	args string
}

// pending lists what waits.
func pending(c *cobra.Command, k *storeFlags, args []string, asJSON bool) error {
	return (&pendingFlags{storeFlags: *k, json: asJSON}).show(c, args)
}

func (f *pendingFlags) show(c *cobra.Command, args []string) error {
	if f.args != "" && (len(args) == 0 || !json.Valid([]byte(f.args))) {
		return misused(c, "--args goes with an ID, and is JSON")
	}
	s, err := f.reading(c.Context())
	if err = ifAny(err); err != nil {
		return err
	}
	install.WarnRepository(c.ErrOrStderr())
	waiting := &inbox.Waiting{Requests: []*approval.Request{}}
	if s != nil {
		defer s.Close()
		warnApprovals(c, s)
		if waiting, err = inbox.ReadWaiting(c.Context(), s); err != nil {
			return err
		}
	}
	switch {
	case len(args) == 1:
		return f.one(c, s, waiting, args[0])
	case f.json:
		all := make([]json.RawMessage, len(waiting.Requests))
		for i, r := range waiting.Requests {
			if all[i], err = withRun(r, waiting.Runs[r.Call.Session]); err != nil {
				return err
			}
		}
		return writeJSON(c.OutOrStdout(), all)
	}
	return waiting.Print(c.OutOrStdout())
}

// one shows one question, as it is or with other arguments.
func (f *pendingFlags) one(c *cobra.Command, s *store.Store, waiting *inbox.Waiting, id string) error {
	r, err := waiting.Find(id)
	if err != nil {
		return err
	}
	run := waiting.Runs[r.Call.Session]
	switch {
	case f.args != "" && run == "":
		return fmt.Errorf("request %s is of a program that is running, and only that can say what it would do; "+
			"'assent approve %s --args JSON' has it ask again", r.ID, r.ID)
	case f.args != "":
		if r, err = f.preview(c, s, run, r.ID, json.RawMessage(f.args)); err != nil {
			return err
		}
	}
	if f.json {
		shown, err := withRun(r, run)
		if err != nil {
			return err
		}
		return writeJSON(c.OutOrStdout(), shown)
	}
	if err := inbox.Show(c.Context(), c.OutOrStdout(), r); err != nil || f.args == "" {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "\nTo approve exactly this: assent approve %s --expect %s --args JSON\n",
		r.ID, r.Fingerprint)
	return err
}

// withRun is a request as JSON, with the id of the saved run that waits for it.
func withRun(r *approval.Request, run string) (json.RawMessage, error) {
	data, err := json.Marshal(r)
	if err != nil || run == "" {
		return data, err
	}
	id, err := json.Marshal(run)
	return slices.Concat([]byte(`{"run":`), id, []byte(","), data[1:]), err
}
