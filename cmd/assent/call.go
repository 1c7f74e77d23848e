package main

import (
	"fmt"

	"github.com/assent-dev/assent/internal/explain/doors"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

func callCmd() *cobra.Command {
	var flags workFlags
	c := &cobra.Command{
		Use:   "call TOOL 'JSON or command'",
		Short: "Run one tool by hand, with the same approvals as an agent",
		Long: "call runs a tool as an agent would: the same questions, the same records. The policy is the worker\n" +
			"or policy file given with -c, or else the project's policy. This is also how to run tools that a worker\n" +
			"marks as manual.\n" +
			"\n" +
			"The result goes to standard output, questions to standard error. A call that is refused exits with\n" +
			"status 3.",
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
	if err := byPerson(c); err != nil {
		return err
	}
	s, err := f.resolve(c, "", "", false)
	if err != nil {
		return err
	}
	o := f.options(runs.NewView(out, c.ErrOrStderr(), false, exitStatus))
	result, err := o.Call(c.Context(), s, doors.CallOf(name, args))
	if err != nil {
		return err
	}
	if result.Outcome.State == policy.StateDenied && result.Outcome.Decision == nil && !personHere() && f.ask != "inbox" {
		return misused(c, "%s needs an answer, and there is no terminal to ask at; choose %s", result.Tool, withoutTerminal(c))
	}
	if result.Err != nil {
		return callFailed(result)
	}
	fmt.Fprintln(out, shownText(result.Text))
	return nil
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
