package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

func callCmd() *cobra.Command {
	var flags workFlags
	c := &cobra.Command{
		Use:   "call TOOL 'JSON or command'",
		Short: "Run one tool by hand, through the gate",
		Long: "call runs a tool as an agent would, with the same questions and the same records. The policy\n" +
			"is that of -c, a worker or policy file, or else that of the project. Tools that a worker\n" +
			"marks as manual are run so.\n\n" +
			"The result goes to standard output, questions to standard error. A call that is refused ends\n" +
			"with status 3.",
		Example: "  assent call -c notes.worker read_file '{\"path\": \"notes/today.md\"}'\n" +
			"  assent call shell 'git status'\n" +
			"  assent call github:create_issue '{\"repo\": \"me/notes\", \"title\": \"Broken link\"}'",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return flags.call(c, args[0], args[1]) },
	}
	flags.register(c)
	return c
}

func (f *workFlags) call(c *cobra.Command, name, args string) error {
	out := c.OutOrStdout()
	c.SetOut(c.ErrOrStderr()) // standard output is for the result
	if err := f.check(c); err != nil {
		return err
	}
	if err := f.canAsk(c, false); err != nil {
		return err
	}
	s, err := f.resolve(c, "", "", false)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(c.Context())
	defer stop(nil)
	d, err := f.openDesk(ctx, c, s, session{}, stop)
	if err != nil {
		return err
	}
	result, err := d.callTool(ctx, callOf(name, args))
	if err = errors.Join(err, d.close()); err != nil {
		return err
	}
	if result.Err != nil {
		return callFailed(result)
	}
	fmt.Fprintln(out, shownText(result.Text))
	return nil
}

// callTool takes one call through a gate in front of the tools of the policy.
func (d *desk) callTool(ctx context.Context, of explain.Call) (tool.Result, error) {
	call := policy.Call{ID: "by-hand", Tool: of.Tool, Arguments: []byte(of.Args)}
	if connector, own, ok := strings.Cut(of.Tool, ":"); ok {
		call.Connector, call.Tool = connector, own
	}
	named := slices.DeleteFunc(slices.Clone(d.Connectors), func(c config.Connector) bool { return c.Name != call.Connector })
	foreign, err := d.connect(ctx, named)
	if err != nil {
		return tool.Result{}, err
	}
	defer foreign.close()
	box, err := d.Box(d.Configuration, open.Tools{Further: foreign.Tools(named)})
	if err != nil {
		return tool.Result{}, err
	}
	defer box.Close()
	warn(box.Warnings)
	gate, err := d.gate(nil, d.Rules, box.Tools)
	if err != nil {
		return tool.Result{}, err
	}
	result := tool.Call(tool.WithProgress(ctx, d.shown), gate, call)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	return result, nil
}

// callFailed says how a call by hand ended that gave no result.
func callFailed(r tool.Result) error {
	switch r.Outcome.State {
	case policy.StateDismissed:
		return statusError{exitInterrupted, r.Err}
	case policy.StateInvalid:
		return r.Err
	}
	if !r.Outcome.Runs() {
		return statusError{exitDenied, r.Err}
	}
	return r.Err
}
