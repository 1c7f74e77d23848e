package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents/hook"
	keeping "github.com/assent-dev/assent/internal/agents/keeper"
	"github.com/assent-dev/assent/internal/agents/staged"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/present"
)

// keeperCmd is the process that holds the commands of another agent's session. Hooks start it.
func keeperCmd() *cobra.Command {
	var o keeping.Order
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
				o.SettingNames = hook.SettingNames()
				if o.Settings, err = hook.Settings(agent, o.Project, home); err != nil {
					err = fmt.Errorf("%w: %w", keeping.ErrNoSandbox, err)
				} else {
					err = keeping.Serve(c.Context(), o, func() { say(staged.SaysReady, "") })
				}
			}
			switch {
			case err == nil:
			case errors.Is(err, staged.ErrAnother):
				say(staged.SaysAnother, "")
				return nil
			case errors.Is(err, keeping.ErrNoSandbox):
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
