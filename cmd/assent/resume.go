package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/present"
)

func resumeCmd() *cobra.Command {
	var k keeper
	var asJSON, drop bool
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was put aside",
		Long: "resume takes up a run of 'assent run --defer' with the answers that were given meanwhile. An\n" +
			"answer counts only if the call is still what was shown; otherwise it is asked again. Nothing\n" +
			"runs twice: a call that had started when the program ended is reported, not repeated.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if drop {
				return dropRun(c, &k, args[0])
			}
			return resume(c, &k, args[0], asJSON)
		},
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print what happens as JSON, one event a line")
	c.Flags().BoolVar(&drop, "drop", false, "forget the run instead, with its questions")
	c.MarkFlagsMutuallyExclusive("json", "drop")
	return c
}

// dropRun forgets a run that nobody wants to go on. Its session ends, and what it asked is
// dismissed with it.
func dropRun(c *cobra.Command, k *keeper, id string) error {
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
	if errors.Is(err, approval.ErrNoSession) {
		err = nil // it had ended
	}
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "Run %s is forgotten.\n", present.SafeLine(run.ID))
	}
	return errors.Join(err, s.Close())
}

func resume(c *cobra.Command, k *keeper, id string, asJSON bool) error {
	if err := byPerson(c); err != nil {
		return err
	}
	run, err := k.savedRun(c.Context(), id)
	if err != nil {
		return err
	}
	p, err := loadParked(run)
	if err != nil {
		return err
	}
	f := p.flags(*k)
	f.json = asJSON
	out := c.OutOrStdout()
	c.SetOut(c.ErrOrStderr())
	s, err := f.resolve(c, p.Folder, p.Worker, false)
	if err != nil {
		return err
	}
	shown := newRunView(out, c.ErrOrStderr(), asJSON)
	return f.work(c, s, session{id: run.Session, keeps: true, programs: p.Programs}, shown, func(ctx context.Context, j *job) error {
		j.crew.Recall(p.Created)
		a := &aside{job: j, id: run.ID, version: run.Version, parked: p}
		return j.later(ctx, c, a, func(ctx context.Context, r *worker.Run) (worker.Round, error) { return r.Resume(ctx, p.Run) })
	})
}

// savedRun finds a run by its id.
func (k *keeper) savedRun(ctx context.Context, id string) (approval.SavedRun, error) {
	s, err := k.reading(ctx)
	if errors.Is(err, open.ErrNoStore) {
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

// later lets a run go on until it ends or waits for a person, and keeps it then. It is also
// kept where it was interrupted, or where something failed that may work later.
func (j *job) later(ctx context.Context, c *cobra.Command, a *aside, do func(context.Context, *worker.Run) (worker.Round, error)) error {
	j.crew.Store = a
	err := j.do(ctx, do)
	var paused *worker.PausedError
	if errors.As(err, &paused) {
		j.desk.KeepSession = true
		printPending(c.ErrOrStderr(), a.id, paused.Pending)
		return err
	}
	if over(err) || a.version == 0 {
		j.desk.KeepSession = false
		return errors.Join(err, a.ended(ctx))
	}
	j.desk.KeepSession = true
	fmt.Fprintf(c.ErrOrStderr(), "The run is kept as it was before that. To go on: assent resume %s\n", a.id)
	return err
}

// over reports whether a run that ended so has ended for good. One that another process goes
// on with has not.
func over(err error) bool {
	if errors.Is(err, approval.ErrRunChanged) {
		return false
	}
	return err == nil || errors.As(err, new(*worker.StoppedError)) || errors.Is(err, worker.ErrLimit) || errors.As(err, new(*crew.OutputError))
}

// printPending lists what a run waits for.
func printPending(w io.Writer, run string, pending []*approval.Request) {
	fmt.Fprintf(w, "The run waits for:\n")
	for _, r := range pending {
		fmt.Fprintf(w, "  %s  %s · %s", r.ID, present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
		if len(r.Call.Workers) > 1 {
			fmt.Fprintf(w, "  (%s)", present.SafeLine(strings.Join(r.Call.Workers, " › ")))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "Answer with 'assent approve ID' or 'assent deny ID', then: assent resume %s\n", run)
}
