package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
)

type sandboxRunFlags struct {
	policy, state string
	timeout       time.Duration
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
			file, err := policyOr(c, flags.policy)
			if err != nil {
				return err
			}
			if flags.policy == "" {
				err = needTrust(c.Context(), file, flags.state)
			}
			if flags.policy = file; err == nil {
				err = flags.run(c, args)
			}
			if err == nil || errors.As(err, new(statusError)) || errors.Is(err, context.Canceled) {
				return err
			}
			return statusError{exitSandboxFailed, err}
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVarP(&flags.policy, "config", "c", "", "the policy file (default: the project's)")
	c.Flags().StringVar(&flags.state, "state", "", "the state folder (default: assent's own)")
	c.Flags().DurationVar(&flags.timeout, "timeout", 0, "end the command after this time")
	return c
}

func (f *sandboxRunFlags) run(c *cobra.Command, argv []string) (err error) {
	d, err := sandboxPolicy(c.Context(), f.policy, f.state)
	if err != nil {
		return err
	}
	policy, profile := d.policy, d.profile
	profile.Limits.Time = f.timeout
	if err := makeCaches(policy, profile); err != nil {
		return err
	}
	options, err := sandboxProgram()
	if err != nil {
		return err
	}
	options.First = true
	found, err := detect.Detect(c.Context(), options, profile)
	if err != nil {
		return unusable(policy, err)
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

// makeCaches makes the folders that programs are given to cache in.
func makeCaches(policy *config.Policy, p sandbox.Profile) error {
	if len(policy.OS.Extra.Caches) == 0 {
		return nil
	}
	for _, r := range p.Roots {
		if r.Guarded {
			continue
		}
		if err := os.MkdirAll(r.Path, 0o700); err != nil {
			return fmt.Errorf("making a cache folder (%s): %w", r.Source, err)
		}
	}
	return nil
}
