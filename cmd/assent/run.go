package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/present"
)

// runFlags are those of the commands that run a worker.
type runFlags struct {
	workFlags
	saved               runs.Saved // how the run is started
	input               string
	attach              []string
	json, dryRun, later bool
}

func runCmd() *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "run WORKER [MESSAGE]",
		Short: "Run an agent, and approve what its tools do",
		Long: "run gives a worker a message and lets its model work with tools until it is done. WORKER is a file, or\n" +
			"a name that is looked up in ./workers/ and in your config folder. The message can also come from\n" +
			"standard input.\n" +
			"\n" +
			"What the worker says goes to standard output; questions and results go to standard error. Exit status:\n" +
			"0 done, 1 an error or a limit, 2 nobody can be asked, 3 a denial stopped it, 4 a sandbox is required and\n" +
			"there is none, 5 it waits for answers, 130 interrupted.",
		Example: "  assent run notes \"Tidy up my notes.\"\n" +
			"  assent run --strict --json review.worker --input @change.json\n" +
			"  assent run --model script:try.yaml notes.worker \"Try my rules.\"",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error { return flags.run(c, args) },
	}
	flags.register(c)
	f := c.Flags()
	f.StringVar(&flags.input, "input", "", "the input as JSON, or @FILE")
	f.StringArrayVar(&flags.attach, "attach", nil, "attach a file to the message; may be repeated")
	f.BoolVar(&flags.json, "json", false, "print events as JSON, one per line")
	f.BoolVar(&flags.dryRun, "dry-run", false, "list the tools and what approval each needs; calls no model")
	f.BoolVar(&flags.later, "defer", false, "save the run when an answer is needed, and exit; see 'assent pending'")
	return c
}

// register adds the flags that run and chat share.
func (f *runFlags) register(c *cobra.Command) {
	f.workFlags.register(c)
	f.registerOnDeny(c)
	c.Flags().StringVar(&f.saved.Model, "model", "",
		"the model, such as anthropic:NAME or script:FILE, instead of the worker's; also for workers it calls "+
			"that name none")
	c.Flags().IntVar(&f.saved.MaxSteps, "max-steps", 0,
		"the maximum number of turns (default: the worker's max_steps, or 50)")
	c.Flags().Int64Var(&f.saved.MaxTokens, "max-tokens", 0, "the maximum number of tokens (default: no limit)")
	c.Flags().DurationVar(&f.saved.MaxTime, "max-time", 0, "the maximum time, such as 10m (default: no limit)")
}

func (f *runFlags) check(c *cobra.Command) error {
	if err := f.workFlags.check(c); err != nil {
		return err
	}
	switch {
	case f.saved.MaxSteps < 0, f.saved.MaxTokens < 0, f.saved.MaxTime < 0:
		return misused(c, "a limit cannot be negative")
	case f.later && (f.approveAll || f.strict):
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
		if err := f.canAsk(c, f.later); err != nil {
			return err
		}
	}
	s, err := f.resolve(c, "", args[0], f.dryRun)
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.dry(c.Context(), out, s)
	}
	message, err := f.message(c, s.Worker, args[1:])
	if err != nil {
		return err
	}
	o := f.options(runs.NewView(out, c.ErrOrStderr(), f.json, exitStatus))
	if f.later {
		saved := f.saved
		saved.Worker, saved.Folder, saved.Config, saved.Set = s.File.Path, s.Dir, f.config, f.set
		saved.OnDeny = f.onDeny
		return o.RunDeferred(c.Context(), s, message, saved)
	}
	return o.Run(c.Context(), s, message)
}

// dry lists the tools of a worker.
func (f *runFlags) dry(ctx context.Context, out io.Writer, s *setup.Setup) error {
	list, err := runs.DryRun(ctx, s)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(out, list)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range list {
		fmt.Fprintf(t, "%s\t%s\n", present.SafeLine(l.Tool), present.SafeLine(l.Needs))
	}
	return t.Flush()
}

// options are what the flags say of a run.
func (f *runFlags) options(view *runs.View) runs.Options {
	o := f.workFlags.options(view)
	started := f.saved.Options()
	o.Model, o.Limits = started.Model, started.Limits
	return o
}

// message is what the worker is told: the argument, the input, or standard input.
func (f *runFlags) message(c *cobra.Command, to *config.Worker, args []string) (worker.Message, error) {
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
		if m.Text = string(data); len(to.InputSchema) > 0 {
			given = m.Text
		}
	}
	if given != "" {
		input, err := readInput(given)
		if err != nil {
			return m, err
		}
		if err := crew.CheckInput(to, input); err != nil {
			return m, err
		}
		m.Text = crew.InputText(input)
	} else if len(to.InputSchema) > 0 {
		return m, fmt.Errorf("worker %s has an input_schema; give its input with --input", to.Name)
	}
	var err error
	m.Attachments, err = crew.Attach(to, f.attach...)
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
		return nil, errors.New("the input is not valid JSON; put a string in quotes, or give a message instead")
	}
	return data, nil
}
