package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
	"github.com/assent-dev/assent/sandbox/netns"
	"github.com/assent-dev/assent/tool"
)

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
	ctx, stop := context.WithCancelCause(c.Context())
	defer stop(nil)
	base, desk, err := f.open(ctx, s, stop)
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
	if n := profile.Network.Unwatched(); !f.ask && n.Off() && !profile.Network.Off() {
		fmt.Fprintf(c.ErrOrStderr(), "assent: warning: the command has no network: %s denies hosts, and only with --ask are hosts looked at\n", n.Source)
		profile.Network = n
	}
	found, err := base.Sandboxed(ctx, profile, f.ask)
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
	run := found.Runner
	if f.ask {
		var of *tool.Connections
		if run, of, err = asking(base, desk, found, argv, &profile); err != nil {
			return err
		}
		defer func() {
			of.End()
			for _, line := range of.Refused() {
				fmt.Fprintln(c.ErrOrStderr(), "assent:", shownText(line))
			}
		}()
	}
	exit, err := sandbox.Run(ctx, run, sandbox.Command{
		Argv: argv, Dir: dir, Env: profile.Env.Values(os.LookupEnv),
		Stdin: os.Stdin, Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr(), Profile: profile,
	})
	if err != nil {
		return err
	}
	return ended(ctx, c.ErrOrStderr(), exit)
}

// open opens what the command needs: with --ask also who answers.
func (f *sandboxRunFlags) open(ctx context.Context, s *setup.Setup, stop context.CancelCauseFunc) (*open.Base, *desk, error) {
	if !f.ask {
		base, err := open.Open(ctx, s, open.Order{Use: open.Look, NoTools: true})
		return base, nil, err
	}
	d, err := openDesk(ctx, s, open.Order{Use: open.Run, NoTools: true}, s.User.AskTimeout, func(d *desk) approval.Approver {
		if personHere() {
			return d.terminal(stop)
		}
		return approval.Queue(d.Store)
	})
	if err != nil {
		return nil, nil, err
	}
	return d.Base, d, nil
}

// asking is a runner that puts the connections of the command to a gate.
func asking(base *open.Base, d *desk, found detect.Found, argv []string, p *sandbox.Profile) (sandbox.Runner, *tool.Connections, error) {
	through, ok := found.Runner.(netns.Through)
	switch {
	case p.Network.Off():
		return nil, nil, fmt.Errorf("nothing was run: --ask is of no use, because the policy has the network off (sandbox.network)")
	case found.Stage == nil:
		return nil, nil, fmt.Errorf("nothing was run: --ask needs a network of the command's own: %w", found.NoStage)
	case !ok:
		return nil, nil, fmt.Errorf("nothing was run: --ask needs bubblewrap, and the sandbox is %s", found.Report.Name)
	}
	p.Network = p.Network.Staged()
	gate, err := tool.Guard(d.gateConfig(base.Rules))
	if err != nil {
		return nil, nil, err
	}
	hosts := base.StagedHosts()
	of := gate.Connections(policy.Call{Tool: policy.ActConnect, Session: base.Session})
	return network.New(through, found.Stage, hosts, network.Dialer{}).
		For(network.Outside(of, hosts, network.Dialer{}, strings.Join(argv, " "))), of, nil
}

// ended turns the end of a command into that of this program.
func ended(ctx context.Context, w io.Writer, exit sandbox.Exit) error {
	if exit.Ended == sandbox.EndingCancelled {
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
