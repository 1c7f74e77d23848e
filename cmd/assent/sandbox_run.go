package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/sandbox"
)

type sandboxRunFlags struct {
	policyFlags
	timeout time.Duration
}

func sandboxRunCmd() *cobra.Command {
	var flags sandboxRunFlags
	c := &cobra.Command{
		Use:   "run [-c POLICY] -- COMMAND [ARGS...]",
		Short: "Run a command in the sandbox of a policy",
		Long: "run starts the command in this folder, under the profile that 'assent sandbox show' prints,\n" +
			"and ends with its exit status; 125 if the sandbox or the policy failed, 4 if the policy\n" +
			"requires a sandbox and there is none. Nobody is asked. A project's policy that is not named\n" +
			"must be trusted: see 'assent trust'.",
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
	c.Flags().DurationVar(&flags.timeout, "timeout", 0, "end the command after this time")
	return c
}

func (f *sandboxRunFlags) run(c *cobra.Command, argv []string) (err error) {
	s, err := f.resolve(c)
	if err != nil {
		return err
	}
	if err := needPolicy(c, s); err != nil {
		return err
	}
	if s.Untrusted {
		// Whoever wrote the project wrote it, and it says what a command may reach.
		return fmt.Errorf("nothing was run: %s is not trusted; 'assent trust' shows what it would allow and asks, or name it with -c", s.File.Path)
	}
	base, err := open.Open(c.Context(), s, open.Order{Use: open.Look, NoTools: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	derived, err := base.CommandProfile(false)
	if err != nil {
		return err
	}
	profile := derived.Profile
	profile.Limits.Time = f.timeout
	found, err := base.Sandboxed(c.Context(), profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	if found.Report.Weaker {
		fmt.Fprintf(c.ErrOrStderr(), "assent: warning: the sandbox is %s, which is weaker; 'assent sandbox doctor' says how\n", found.Report.Name)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	exit, err := sandbox.Run(c.Context(), found.Runner, sandbox.Command{
		Argv: argv, Dir: dir, Env: profile.Env.Values(os.LookupEnv),
		Stdin: os.Stdin, Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr(), Profile: profile,
	})
	if err != nil {
		return err
	}
	return ended(c.Context(), c.ErrOrStderr(), exit)
}

// ended turns the end of a command into that of this program.
func ended(ctx context.Context, w io.Writer, exit sandbox.Exit) error {
	if exit.Ended == sandbox.Cancelled {
		return context.Cause(ctx)
	}
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
