package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/explain/doors"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/sandbox"
)

func sandboxShowCmd() *cobra.Command {
	var flags policyFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "show [-c POLICY] [-- COMMAND]",
		Short: "Print what commands may reach, and the line of config behind each entry",
		Long: "show prints what the policy lets commands reach. With a command, in the words of a shell, it\n" +
			"also prints what that command would be held to: what it was read to do, and no more.",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := flags.resolve(c)
			if err != nil {
				return err
			}
			base, err := open.Open(c.Context(), s, open.Order{Use: open.Look, Held: len(args) > 0})
			if err != nil {
				return err
			}
			defer base.Close()
			if err := needPolicy(c, base.Setup); err != nil {
				return err
			}
			view, err := base.ProfileView()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if view.Held, err = base.HeldTo(c.Context(), doors.CommandText(args)); err != nil {
					return err
				}
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), view)
			}
			return view.Print(c.OutOrStdout())
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

type sandboxRunFlags struct {
	policyFlags
	timeout time.Duration
	ask     bool
}

func sandboxRunCmd() *cobra.Command {
	var flags sandboxRunFlags
	c := &cobra.Command{
		Use:   "run [-c POLICY] -- COMMAND [ARGS...]",
		Short: "Run a command in the sandbox of a policy",
		Long: "run starts the command in this folder, under the profile that 'assent sandbox show' prints,\n" +
			"and ends with its exit status; 125 if the sandbox or the policy failed, 4 if the policy\n" +
			"requires a sandbox and there is none. A project's policy that is not named must be trusted:\n" +
			"see 'assent trust'.\n\n" +
			"Nobody is asked, unless --ask is given: then each connection of the command is decided about\n" +
			"by the name of its host, with the policy's list, rules and grants, and what nothing answers\n" +
			"is asked at the terminal and in the inbox, and recorded.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := flags.run(c, args)
			var own statusError // the command's own, or a status that says more than a failure
			if err == nil || errors.As(err, &own) || exitStatus(err) != exitFailed {
				return err
			}
			return statusError{exitSandboxFailed, err}
		},
	}
	c.Flags().SetInterspersed(false)
	flags.register(c)
	c.Flags().BoolVar(&flags.ask, "ask", false, "ask about hosts that the command connects to")
	c.Flags().DurationVar(&flags.timeout, "timeout", 0, "end the command after this time")
	return c
}

func (f *sandboxRunFlags) run(c *cobra.Command, argv []string) error {
	s, err := f.resolve(c)
	if err != nil {
		return err
	}
	if err := needPolicy(c, s); err != nil {
		return err
	}
	if s.Untrusted {
		// Whoever wrote the project wrote it, and it says what a command may reach.
		return fmt.Errorf("nothing was run: %s is not trusted; 'assent trust' shows what it would allow and asks, "+
			"or name it with -c", s.File.Path)
	}
	command := runs.Sandboxed{
		Argv: argv, Timeout: f.timeout, Ask: f.ask, Out: c.OutOrStdout(), Err: c.ErrOrStderr(),
	}
	exit, err := command.Run(c.Context(), s)
	if err != nil {
		return err
	}
	return ended(c.ErrOrStderr(), exit)
}

// ended turns the end of a command into that of this program.
func ended(w io.Writer, exit sandbox.Exit) error {
	if exit.Ended != "" {
		fmt.Fprintf(w, "assent: the command %s\n", exit.Ended)
	}
	if exit.Left != "" {
		fmt.Fprintf(w, "assent: ended with the command: %s\n", exit.Left)
	}
	if exit.Code == 0 {
		return nil
	}
	return statusError{status: exit.Code}
}
