package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

func resumeCmd() *cobra.Command {
	var k storeFlags
	var asJSON, drop bool
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Continue a run that was deferred",
		Long: "resume continues a run of 'assent run --defer' with the answers given in the meantime. An answer\n" +
			"counts only if the call is still what was shown; otherwise it is asked again. Nothing runs twice: a\n" +
			"call that had started when the program ended is reported, not repeated.",
		Example: "  assent resume W5RTQA\n" +
			"  assent resume W5RTQA --json\n" +
			"  assent resume W5RTQA --drop",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if drop {
				return dropRun(c, &k, args[0])
			}
			return resume(c, &k, args[0], asJSON)
		},
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print events as JSON, one per line")
	c.Flags().BoolVar(&drop, "drop", false, "delete the run and its requests instead")
	c.MarkFlagsMutuallyExclusive("json", "drop")
	return c
}

// dropRun forgets a run that nobody wants to go on. Its session ends, and what it asked is
// dismissed with it.
func dropRun(c *cobra.Command, k *storeFlags, id string) error {
	if err := byPerson(c); err != nil {
		return err
	}
	run, err := k.savedRun(c.Context(), id)
	if err != nil {
		return err
	}
	s, err := k.changing(c)
	if err != nil {
		return err
	}
	err = s.DeleteRun(c.Context(), run.ID)
	if err == nil {
		err = s.EndSession(c.Context(), run.Session)
	}
	if errors.Is(err, sessions.ErrNoSession) {
		err = nil // it had ended
	}
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "Deleted run %s.\n", present.SafeLine(run.ID))
	}
	return errors.Join(err, s.Close())
}

func resume(c *cobra.Command, k *storeFlags, id string, asJSON bool) error {
	if err := byPerson(c); err != nil {
		return err
	}
	run, err := k.savedRun(c.Context(), id)
	if err != nil {
		return err
	}
	saved, err := runs.Load(run)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	c.SetOut(c.ErrOrStderr())
	s, err := resolveSaved(c, k, saved, false)
	if err != nil {
		return err
	}
	o := saved.Options()
	o.View = runs.NewView(out, c.ErrOrStderr(), asJSON, exitStatus)
	return o.Resume(c.Context(), s, run, saved)
}

// resolveSaved finds what holds for a saved run.
func resolveSaved(c *cobra.Command, k *storeFlags, s runs.Saved, looking bool) (*setup.Setup, error) {
	return (&workFlags{storeFlags: *k, config: s.Config, set: s.Set}).resolve(c, s.Folder, s.Worker, looking)
}

// preview says what a request of a saved run would be with other arguments.
func (k *storeFlags) preview(c *cobra.Command, s *store.Store, run, request string,
	args json.RawMessage) (*approval.Request, error) {
	found, err := s.LoadRun(c.Context(), run)
	if err != nil {
		return nil, err
	}
	saved, err := runs.Load(found)
	if err != nil {
		return nil, err
	}
	holds, err := resolveSaved(c, k, saved, true)
	if err != nil {
		return nil, err
	}
	return runs.Preview(c.Context(), s, found, holds, request, args)
}

// savedRun finds a run by its id.
func (k *storeFlags) savedRun(ctx context.Context, id string) (sessions.SavedRun, error) {
	var run sessions.SavedRun
	err := k.read(ctx, func(s *store.Store) (err error) {
		run, err = s.LoadRun(ctx, id)
		return err
	})
	switch {
	case errors.Is(err, open.ErrNoStore):
		err = fmt.Errorf("run %q: %w", id, sessions.ErrRunNotFound)
	case errors.Is(err, sessions.ErrRunNotFound):
		err = fmt.Errorf("%w; 'assent pending' lists those that wait", err)
	}
	return run, err
}
