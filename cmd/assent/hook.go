package main

import (
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/agents/install"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/hook"
)

func hookCmd() *cobra.Command {
	var state string
	var deadline time.Duration
	var observe, later bool
	c := &cobra.Command{
		Use:   "hook " + strings.Join(install.AgentNames(), "|"),
		Short: "Answer another agent's hook",
		Long: "hook reads what the agent says before one of its tools runs from standard input, judges it by\n" +
			"the same rules as any other call, records it, and answers in the agent's own form. What must be\n" +
			"asked goes to the inbox if one is open, else back to the agent's own prompt, else it is denied:\n" +
			"see hook: in config.yaml. Whatever goes wrong ends with status 2, which blocks the call.\n\n" +
			"'assent install' writes it into the agent's settings, as assent-hook if that is there: the same\n" +
			"in a smaller program, which starts faster.",
		Example:   "  assent hook claude-code < event.json\n  assent hook gemini --observe",
		Args:      cobra.ExactArgs(1),
		ValidArgs: install.AgentNames(),
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := agents.Named(args[0])
			if err != nil {
				return asUsage(c, err)
			}
			o, err := hook.Here(agent, state)
			if err != nil {
				return statusError{exitUsage, err}
			}
			o.Deadline, o.Observe, o.Defer, o.Input = deadline, observe, later, c.InOrStdin()
			if status := hook.Answer(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr()); status != exitOK {
				return statusError{status, nil}
			}
			return nil
		},
	}
	c.Flags().StringVar(&state, "state", "", "the state folder (default: assent's own)")
	c.Flags().DurationVar(&deadline, "deadline", 0, "deny what has no answer by then (default: a little less than the agent waits)")
	c.Flags().BoolVar(&observe, "observe", false, "answer nothing, and record what would have happened")
	c.Flags().BoolVar(&later, "defer", false, "have a run of 'claude -p' that must ask end, and go on when it is resumed after the answer")
	c.AddCommand(permissionToolCmd(), keeperCmd(), tokenCmd(hook.WordExec), tokenCmd(hook.WordFolder))
	return c
}
