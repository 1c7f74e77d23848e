package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/explain/doors"
	"github.com/assent-dev/assent/policy"
)

// explainFlags say which door answers, and under which policy.
type explainFlags struct {
	policyFlags
	door          string
	asJSON, batch bool
}

func explainCmd() *cobra.Command {
	var flags explainFlags
	c := &cobra.Command{
		Use:   "explain [-c CONFIG] [--for DOOR] COMMAND | TOOL ARGUMENTS",
		Short: "Explain what would happen to a call, and why",
		Long: "explain judges a call by the policy of this folder and prints each step of the decision. It runs\n" +
			"nothing, asks nobody and records nothing.\n\n" +
			"A tool name with its arguments (JSON, or just the main argument) is a call of that tool; anything\n" +
			"else is a shell command. --for says who would make the call: run, mcp, or another agent\n" +
			"(" + strings.Join(install.AgentNames(), ", ") + ").\n" +
			"Without --for the answer is that of 'assent run', or of the agent whose tool is named. Where no\n" +
			"policy gives agents a shell, it is that of " + agents.All()[0].Title + ".\n\n" +
			"With --batch it reads one call per line from standard input, {\"tool\": …, \"args\": {…}}, and\n" +
			"prints one answer per line.",
		Example: "  assent explain 'git status && git push'\n" +
			"  assent explain --for claude-code 'npm test'\n" +
			"  assent explain 'Bash(git push)'\n" +
			"  assent explain -c policy.yaml write_file '{\"path\": \"notes/a.md\", \"content\": \"…\"}'",
		Args: func(c *cobra.Command, args []string) error {
			if flags.batch {
				return cobra.NoArgs(c, args)
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return flags.run(c, args) },
	}
	flags.register(c)
	c.Flags().StringVar(&flags.door, "for", "",
		"who would call it: run, mcp, "+strings.Join(install.AgentNames(), ", "))
	c.Flags().BoolVar(&flags.asJSON, "json", false, "print the answer as JSON")
	c.Flags().BoolVar(&flags.batch, "batch", false, "explain one call per line of standard input")
	return c
}

func (f *explainFlags) run(c *cobra.Command, args []string) (err error) {
	agent, err := f.agent(c)
	if err != nil {
		return err
	}
	s, err := f.resolve(c)
	if err != nil {
		return err
	}
	if f.batch && agent == nil {
		return doors.Ours(c.Context(), s, func(e *explain.Explainer) error {
			e.For = f.door
			return e.Batch(c.Context(), c.InOrStdin(), c.OutOrStdout())
		})
	}
	if f.batch {
		theirs := func(ctx context.Context, call explain.Call) explain.Answer {
			answer, err := doors.Theirs(ctx, agent, f.state, call)
			if err != nil {
				return explain.Failed(err)
			}
			return answer
		}
		return explain.Batch(c.Context(), c.InOrStdin(), c.OutOrStdout(), theirs)
	}
	call, owner := doors.ReadCall(args, s)
	if agent == nil && f.door == "" && f.config == "" {
		agent = owner
		if agent == nil && call.Tool == policy.ActShell && !s.HasShell {
			agent = agents.All()[0]
		}
	}
	var answer explain.Answer
	if agent != nil {
		answer, err = doors.Theirs(c.Context(), agent, f.state, call)
	} else {
		err = doors.Ours(c.Context(), s, func(e *explain.Explainer) error {
			e.For, e.Held = f.door, true
			answer = e.Explain(c.Context(), call)
			if call.Tool == policy.ActShell && answer.Outcome != explain.Deny {
				answer.Undo = e.Undoing(c.Context(), call.Args)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(c.OutOrStdout(), answer)
	}
	title := ""
	if agent, err := agents.Named(answer.For); err == nil {
		title = agent.Title
	}
	return answer.Print(c.OutOrStdout(), title)
}

// agent is the one that --for names; nil if it is a door of our own.
func (f *explainFlags) agent(c *cobra.Command) (*agents.Agent, error) {
	if f.door == "" || f.door == "run" || f.door == "mcp" {
		return nil, nil
	}
	agent, err := agents.Named(f.door)
	switch {
	case err != nil:
		return nil, misused(c, "--for %q: use run, mcp, %s", f.door, strings.Join(install.AgentNames(), ", "))
	case f.config != "":
		return nil, misused(c, "-c does not go with --for %s: its hook takes the policy of the folder", f.door)
	}
	return agent, nil
}
