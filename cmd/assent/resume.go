package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell/runner"
)

func resumeCmd() *cobra.Command {
	var k keeper
	var asJSON bool
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was put aside",
		Long: "resume takes up a run of 'assent run --defer' with the answers that were given meanwhile. An\n" +
			"answer counts only if the call is still what was shown; otherwise it is asked again. Nothing\n" +
			"runs twice: a call that had started when the program ended is reported, not repeated.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return resume(c, &k, args[0], asJSON) },
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print what happens as JSON, one event a line")
	return c
}

func resume(c *cobra.Command, k *keeper, id string, asJSON bool) error {
	if runner.Inside() {
		return fmt.Errorf("'%s' was started by a tool call; run it in your own terminal", c.CommandPath())
	}
	run, err := k.savedRun(c.Context(), id)
	if err != nil {
		return err
	}
	p, err := loadParked(run)
	if err != nil {
		return err
	}
	f := runFlags{
		workFlags: workFlags{askFlags: askFlags{onDeny: p.OnDeny}, keeper: *k, config: p.Config, ask: "terminal", set: p.Set},
		model:     p.Model, maxSteps: p.MaxSteps, maxTokens: p.MaxTokens, maxTime: p.MaxTime, park: true, json: asJSON,
	}
	out := c.OutOrStdout()
	c.SetOut(c.ErrOrStderr())
	w, err := f.prepareIn(c, p.Folder, p.Worker)
	if err != nil {
		return err
	}
	w.session = run.Session
	shown := newRunView(out, c.ErrOrStderr(), asJSON)
	return f.work(c, w, shown, func(ctx context.Context, m *crew.Member, d *desk) error {
		a := &aside{desk: d, id: run.ID, version: run.Version, parked: p}
		return deferred(c, shown, m, d, a, func(ctx context.Context, r *worker.Run) (worker.Round, error) {
			return r.Resume(ctx, p.Run)
		})
	})
}

// savedRun finds a run by its id.
func (k *keeper) savedRun(ctx context.Context, id string) (approval.SavedRun, error) {
	s, err := k.reading(ctx)
	if errors.Is(err, errNoStore) {
		return approval.SavedRun{}, fmt.Errorf("run %q: %w", id, approval.ErrRunNotFound)
	}
	if err != nil {
		return approval.SavedRun{}, err
	}
	run, err := s.LoadRun(ctx, id)
	if errors.Is(err, approval.ErrRunNotFound) {
		err = fmt.Errorf("%w; 'assent pending' lists those that wait", err)
	}
	return run, errors.Join(err, s.Close())
}

// deferred lets a run go on until it ends or waits for a person, and keeps it then.
func deferred(c *cobra.Command, shown *runView, m *crew.Member, d *desk, a *aside, do func(context.Context, *worker.Run) (worker.Round, error)) error {
	ctx := c.Context()
	run, err := m.Run(ctx)
	if err != nil {
		return err
	}
	run.Aside = a
	shown.begin(m, d)
	round, err := do(tool.WithProgress(ctx, d.shown), run)
	if err == nil {
		err = crew.CheckOutput(m.Worker, crew.LastText(round))
	}
	shown.end(run.Usage(), err)
	var paused *worker.PausedError
	switch {
	case errors.As(err, &paused):
		d.kept = true
		printPending(c.ErrOrStderr(), a.id, paused.Pending)
		return err
	case ctx.Err() != nil:
		d.kept = a.version > 0 // it was interrupted, and can be resumed
		return err
	}
	return errors.Join(err, a.ended(ctx))
}

// printPending lists what a run waits for.
func printPending(w io.Writer, run string, pending []*approval.Request) {
	fmt.Fprintf(w, "The run waits for:\n")
	for _, r := range pending {
		fmt.Fprintf(w, "  %s  %s · %s\n", r.ID, present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
	}
	fmt.Fprintf(w, "Answer with 'assent approve ID' or 'assent deny ID', then: assent resume %s\n", run)
}
