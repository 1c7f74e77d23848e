package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool"
)

// A Sandboxed command runs in the sandbox of a policy.
type Sandboxed struct {
	Argv     []string
	Timeout  time.Duration
	Ask      bool // about hosts that the command connects to
	Out, Err io.Writer
}

// Run runs the command in the current folder, under the profile of commands.
func (c *Sandboxed) Run(ctx context.Context, s *setup.Setup) (exit sandbox.Exit, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	base, session, err := c.open(ctx, s, stop)
	if err != nil {
		return exit, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	derived, err := base.CommandProfile(false)
	if err != nil {
		return exit, err
	}
	profile := derived.Profile
	profile.Limits.Time = c.Timeout
	if n := profile.Network.Unwatched(); !c.Ask && n.Off() && !profile.Network.Off() {
		fmt.Fprintf(c.Err, "assent: warning: the command has no network: %s denies hosts, "+
			"and only with --ask are hosts looked at\n", n.Source)
		profile.Network = n
	}
	found, err := base.Sandboxed(ctx, profile, c.Ask)
	if err != nil {
		return exit, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	if found.Report.Weaker {
		fmt.Fprintf(c.Err, "assent: warning: the sandbox is %s, which is weaker; 'assent sandbox doctor' says how\n",
			found.Report.Name)
	}
	dir, err := os.Getwd()
	if err != nil {
		return exit, err
	}
	run := found.Runner
	if c.Ask {
		var of *tool.Connections
		if run, of, err = asking(base, session, found, c.Argv, &profile); err != nil {
			return exit, err
		}
		defer func() {
			of.End()
			for _, line := range of.Refused() {
				fmt.Fprintln(c.Err, "assent:", printable(line))
			}
		}()
	}
	exit, err = sandbox.Run(ctx, run, sandbox.Command{
		Argv: c.Argv, Dir: dir, Env: profile.Env.Values(os.LookupEnv),
		Stdin: os.Stdin, Stdout: c.Out, Stderr: c.Err, Profile: profile,
	})
	if err == nil && exit.Ended == sandbox.EndingCancelled {
		err = context.Cause(ctx)
	}
	return exit, err
}

// open opens what the command needs: to ask also who answers.
func (c *Sandboxed) open(ctx context.Context, s *setup.Setup,
	stop context.CancelCauseFunc) (*open.Base, *Session, error) {
	if !c.Ask {
		base, err := open.Open(ctx, s, open.Order{Use: open.Look, NoTools: true})
		return base, nil, err
	}
	order := open.Order{Use: open.Run, NoTools: true}
	d, err := Open(ctx, s, order, s.User.AskTimeout, func(d *Session) approval.Approver {
		if terminal.Person() != nil {
			return d.Terminal(stop)
		}
		return approval.Queue(d.Store)
	})
	if err != nil {
		return nil, nil, err
	}
	return d.Base, d, nil
}

// asking is a runner that puts the connections of the command to a gate.
func asking(base *open.Base, d *Session, found detect.Found, argv []string,
	p *sandbox.Profile) (sandbox.Runner, *tool.Connections, error) {
	through, ok := found.Runner.(stage.Through)
	switch {
	case p.Network.Off():
		return nil, nil, errors.New("nothing was run: --ask is of no use, because the policy has the network off " +
			"(sandbox.network)")
	case found.Stage == nil:
		return nil, nil, fmt.Errorf("nothing was run: --ask needs a network of the command's own: %w", found.NoStage)
	case !ok:
		return nil, nil, fmt.Errorf("nothing was run: --ask needs bubblewrap, and the sandbox is %s", found.Report.Name)
	}
	p.Network = p.Network.Staged()
	gate, err := tool.Guard(d.GateConfig(base.InForce()))
	if err != nil {
		return nil, nil, err
	}
	hosts := base.StagedHosts()
	of := gate.Connections(policy.Call{Tool: policy.ActConnect, Session: base.Session})
	return network.New(through, found.Stage, hosts, network.Dialer{}).
		For(network.Outside(of, hosts, network.Dialer{}, strings.Join(argv, " "))), of, nil
}
