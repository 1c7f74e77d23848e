package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/hook"
	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/agents/keeper"
	"github.com/assent-dev/assent/internal/agents/prompttool"
	"github.com/assent-dev/assent/internal/agents/staged"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/present"
)

func hookCmd() *cobra.Command {
	var state string
	var deadline time.Duration
	var observe, later bool
	c := &cobra.Command{
		Use:   "hook " + strings.Join(install.AgentNames(), "|"),
		Short: "Answer the hook of another agent",
		Long: "hook reads the event that an agent sends before one of its tools runs from standard input, judges the\n" +
			"call by the same rules as any other call, records it, and answers in the agent's own format. Requests\n" +
			"that need an answer go to the inbox if one is open, else to the agent's own prompt, else they are\n" +
			"denied; see hook: in config.yaml. Any failure exits with status 2, which blocks the call.\n" +
			"\n" +
			"'assent install' writes this command into the agent's settings. It prefers assent-hook, the same\n" +
			"command in a smaller program that starts faster.",
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
	c.Flags().DurationVar(&deadline, "deadline", 0,
		"deny a request that has no answer after this time (default: a little less than the agent waits)")
	c.Flags().BoolVar(&observe, "observe", false, "decide nothing; only record what would have happened")
	c.Flags().BoolVar(&later, "defer", false,
		"have a run of 'claude -p' that must ask end, and go on when it is resumed after the answer")
	c.AddCommand(permissionToolCmd(), keeperCmd(), tokenCmd(hook.WordExec), tokenCmd(hook.WordFolder))
	return c
}

func permissionToolCmd() *cobra.Command {
	var state string
	var deadline time.Duration
	c := &cobra.Command{
		Use:   "permission-tool",
		Short: "Serve as the permission prompt tool of claude -p",
		Long: "permission-tool is an MCP server on standard input and output. It has the tool that claude -p calls\n" +
			"where it would ask its user. The call is judged by the same rules as in a hook; requests that need an\n" +
			"answer go to the inbox if one is open, and are denied otherwise. Any failure is a denial.",
		Example: "  claude -p --mcp-config " +
			"'{\"mcpServers\":{\"assent\":{\"command\":\"assent\",\"args\":[\"hook\",\"permission-tool\"]}}}' \\\n" +
			"    --permission-prompt-tool mcp__assent__" + prompttool.Name + " 'tidy up'",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := hook.Here(agents.Prompt(), state)
			if err != nil {
				return err
			}
			o.Deadline = deadline
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			options := prompttool.Options{
				Hook: o, Dir: dir, Session: promptSession(), Version: cmp.Or(version, "devel"),
			}
			err = prompttool.Serve(c.Context(), options, io.NopCloser(c.InOrStdin()), outAndNoClose{c.OutOrStdout()})
			if errors.Is(err, io.EOF) {
				return nil // Claude Code is gone
			}
			return err
		},
	}
	c.Flags().StringVar(&state, "state", "", "the state folder (default: assent's own)")
	c.Flags().DurationVar(&deadline, "deadline", 0, "deny a request that has no answer after this time (default: 9m50s)")
	return c
}

// promptSession is the session of Claude Code, which it tells those it starts; else one of
// this server's own.
func promptSession() string { return cmp.Or(os.Getenv("CLAUDE_CODE_SESSION_ID"), rand.Text()) }

// outAndNoClose is a stream that stays open.
type outAndNoClose struct{ io.Writer }

func (outAndNoClose) Close() error { return nil }

// keeperCmd is the process that holds the commands of another agent's session. Hooks start it.
func keeperCmd() *cobra.Command {
	var o keeper.Order
	var state, agent string
	var data uint64
	c := &cobra.Command{
		Use:    "keeper",
		Short:  "Hold the commands of an agent's session",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			says := os.NewFile(staged.ReadyDescriptor, "ready")
			say := func(word, why string) {
				fmt.Fprintf(says, "%s: %s\n", word, present.SafeLine(why)) // the hook may have gone
				says.Close()
			}
			var limit syscall.Rlimit
			if data > 0 && syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) == nil {
				limit.Cur = data
				_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // large commands fail, and say so
			}
			if o.Places, err = setup.Here(state); err == nil {
				home, _ := os.UserHomeDir() // without one only the project says which agents are used
				o.Name, o.SettingNames = agent, hook.SettingNames()
				if o.Settings, err = hook.Settings(agent, o.Project, home); err != nil {
					err = fmt.Errorf("%w: %w", keeper.ErrNoSandbox, err)
				} else {
					err = keeper.Serve(c.Context(), o, func() { say(staged.SaysReady, "") })
				}
			}
			switch {
			case err == nil:
			case errors.Is(err, staged.ErrAnother):
				say(staged.SaysAnother, "")
				return nil
			case errors.Is(err, keeper.ErrNoSandbox):
				say(staged.SaysNoSandbox, err.Error())
			default:
				say(staged.SaysFailed, err.Error())
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&state, "state", "", "the state folder")
	f.StringVar(&o.Key, "key", "", "its name")
	f.StringVar(&o.Session, "session", "", "the agent's session")
	f.StringVar(&o.Project, "project", "", "the folder of the project")
	f.StringVar(&agent, "agent", "", "the agent")
	f.Uint64Var(&data, "data", 0, "the limit of memory that commands have, without that of the hook")
	f.IntVar(&o.Agent, "pid", 0, "the agent's process")
	return c
}

// tokenCmd is what the text runs that a hook hands back to the agent.
func tokenCmd(word string) *cobra.Command {
	var state string
	c := &cobra.Command{
		Use:    word + " TOKEN",
		Short:  "Run what a hook judged, once",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			if status := hook.Token(word, state, args[0]); status != exitOK {
				return statusError{status, nil}
			}
			return nil
		},
	}
	c.Flags().StringVar(&state, "state", "", "the state folder")
	return c
}
