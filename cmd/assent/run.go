package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/tool"
)

// runFlags are those of the commands that run a worker.
type runFlags struct {
	workFlags
	model              string
	input              string
	attach             []string
	maxSteps           int
	maxTokens          int64
	maxTime            time.Duration
	json, dryRun, park bool
}

func runCmd() *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "run WORKER [MESSAGE]",
		Short: "Run an agent, and be asked before its tools act",
		Long: "run gives a worker a message and lets its model work with tools until it wants nothing more.\n" +
			"WORKER is a file, or a name that is looked for in ./workers/ and in your config folder. The\n" +
			"message can also come from standard input.\n\n" +
			"What the worker says goes to standard output, questions and results to standard error. It\n" +
			"ends with 0 when it is done, 1 on an error or a limit, 2 if nobody can be asked, 3 if a denial\n" +
			"stopped it, 4 if a sandbox is required and there is none, 5 if it waits for answers, 130 if it\n" +
			"was interrupted.",
		Example: "  assent run notes \"Tidy up my notes.\"\n" +
			"  assent run --strict --json review.worker --input @change.json\n" +
			"  assent run --model script:try.yaml notes.worker \"Try my rules.\"",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error { return flags.run(c, args) },
	}
	flags.register(c)
	f := c.Flags()
	f.StringVar(&flags.input, "input", "", "the input as JSON, or @FILE that has it")
	f.StringArrayVar(&flags.attach, "attach", nil, "a file that goes with the message; may be repeated")
	f.BoolVar(&flags.json, "json", false, "print what happens as JSON, one event a line")
	f.BoolVar(&flags.dryRun, "dry-run", false, "list the tools and what each would need; no model is called")
	f.BoolVar(&flags.park, "defer", false, "put the run aside when a person is needed; see 'assent pending'")
	return c
}

// register adds the flags that run and chat share.
func (f *runFlags) register(c *cobra.Command) {
	f.workFlags.register(c)
	c.Flags().StringVar(&f.model, "model", "", "the model, such as anthropic:NAME or script:FILE, in place of the worker's own; also for workers it calls that name none")
	c.Flags().IntVar(&f.maxSteps, "max-steps", 0, "how many turns the run has at most (default: the worker's max_steps, or 50)")
	c.Flags().Int64Var(&f.maxTokens, "max-tokens", 0, "how many tokens the run may use (default: any number)")
	c.Flags().DurationVar(&f.maxTime, "max-time", 0, "how long the run may take, such as 10m (default: any time)")
}

func (f *runFlags) check(c *cobra.Command) error {
	if err := f.workFlags.check(c); err != nil {
		return err
	}
	switch {
	case f.maxSteps < 0, f.maxTokens < 0, f.maxTime < 0:
		return misused(c, "a limit cannot be negative")
	case f.park && (f.approveAll || f.strict):
		return misused(c, "--defer excludes --approve-all and --strict: they leave nothing to wait for")
	}
	return nil
}

func (f *runFlags) run(c *cobra.Command, args []string) error {
	out := c.OutOrStdout()
	c.SetOut(c.ErrOrStderr()) // standard output is for what the worker says
	if err := f.check(c); err != nil {
		return err
	}
	if !f.dryRun {
		if err := f.canAsk(c, f.park); err != nil {
			return err
		}
	}
	w, err := f.prepare(c, args[0])
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.dry(c.Context(), out, w)
	}
	message, err := f.message(c, w, args[1:])
	if err != nil {
		return err
	}
	shown := newRunView(out, c.ErrOrStderr(), f.json)
	return f.work(c, w, shown, func(ctx context.Context, j *job) error {
		say := func(ctx context.Context, r *worker.Run) (worker.Round, error) { return r.Say(ctx, message) }
		if f.park {
			return j.later(ctx, c, newAside(j, f.parked(w)), say)
		}
		return j.do(ctx, say)
	})
}

// A job is a worker that is open, with what its run needs.
type job struct {
	crew   *crew.Crew
	member *crew.Member
	desk   *desk
	shown  *runView
}

// do lets the worker run, and shows how that begins and ends.
func (j *job) do(ctx context.Context, do func(context.Context, *worker.Run) (worker.Round, error)) error {
	run, err := j.member.Run(ctx)
	if err != nil {
		return err
	}
	j.shown.begin(j.member, j.desk)
	round, err := do(tool.WithProgress(ctx, j.desk.shown), run)
	if err == nil {
		err = crew.CheckOutput(j.member.Worker, crew.LastText(round))
	}
	j.shown.end(run.Usage(), err)
	return err
}

// parked is how a run of these flags is started again.
func (f *runFlags) parked(w *prepared) parked {
	return parked{
		Worker: w.cfg.Files[len(w.cfg.Files)-1], Folder: w.cwd, Config: f.config, Set: f.set, Model: f.model, OnDeny: f.onDeny,
		MaxSteps: f.maxSteps, MaxTokens: f.maxTokens, MaxTime: f.maxTime, Programs: w.programs,
	}
}

// limits are those of the flags.
func (f *runFlags) limits() worker.Limits {
	return worker.Limits{Steps: f.maxSteps, Tokens: f.maxTokens, Time: f.maxTime}
}

// work opens the desk and the crew for a prepared worker, lets do use them, and closes both.
func (f *runFlags) work(c *cobra.Command, w *prepared, shown *runView, do func(context.Context, *job) error) error {
	ctx, stop := context.WithCancelCause(c.Context())
	defer stop(nil)
	if err := makeRoots(w.cfg); err != nil {
		return err
	}
	w.sandbox.steps = w.sandbox.steps && !f.park // what was refused is forgotten with this process
	d, err := f.openDesk(ctx, c, w, f.park, stop)
	if err != nil {
		return err
	}
	d.kept = w.session != "" // until the run has ended
	foreign, err := w.connect(ctx, w.cfg.Connectors, w.cfg.Worker.Folder, w.cfg.Worker.File)
	if err != nil {
		return errors.Join(err, d.close())
	}
	all := f.crew(w, d, stop)
	all.Watch, all.Connect = foreign.watching(shown.watch), foreign.tools
	m, err := all.Open(w.cfg)
	if err != nil {
		return errors.Join(err, foreign.close(), d.close())
	}
	warn(m.Box.Warnings)
	err = do(ctx, &job{all, m, d, shown})
	return errors.Join(err, m.Close(), foreign.close(), d.close())
}

// message is what the worker is told: the argument, the input, or standard input.
func (f *runFlags) message(c *cobra.Command, w *prepared, args []string) (worker.Message, error) {
	m := worker.Message{}
	given := f.input
	if len(args) > 0 && given != "" {
		return m, misused(c, "give a message or --input, not both")
	}
	switch {
	case len(args) > 0:
		m.Text = args[0]
	case given == "":
		data, err := io.ReadAll(c.InOrStdin())
		if err != nil {
			return m, err
		}
		if m.Text = string(data); len(w.cfg.Worker.InputSchema) > 0 {
			given = m.Text
		}
	}
	if given != "" {
		input, err := readInput(given)
		if err != nil {
			return m, err
		}
		if err := crew.CheckInput(w.cfg.Worker, input); err != nil {
			return m, err
		}
		m.Text = crew.InputText(input)
	} else if len(w.cfg.Worker.InputSchema) > 0 {
		return m, fmt.Errorf("worker %s has an input_schema; give its input with --input", w.cfg.Worker.Name)
	}
	var err error
	m.Attachments, err = crew.Attach(w.cfg.Worker, f.attach...)
	return m, err
}

// readInput reads JSON from a flag, or from the file behind an @.
func readInput(given string) ([]byte, error) {
	data := []byte(given)
	if given[0] == '@' {
		var err error
		if data, err = os.ReadFile(given[1:]); err != nil {
			return nil, fmt.Errorf("--input: %w", err)
		}
	}
	if !json.Valid(data) {
		return nil, errors.New("the input is no JSON; write a text in quotes, or give a message instead")
	}
	return data, nil
}
