package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// open opens what the flags and arguments name. Those behind the dash are a command.
func (f *mcpFlags) open(c *cobra.Command, args []string) (k *counter, err error) {
	s, err := (&policyFlags{config: f.config, state: f.state}).resolve(c)
	if err != nil {
		return nil, err
	}
	names, command := args, []string(nil)
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		names, command = args[:dash], args[dash:]
	}
	chosen, err := choose(s, names, command, f.name)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 && len(f.tools) == 0 {
		return nil, errors.New("there is nothing to offer: name a server after --, add connectors to your config, or use --tools")
	}
	if slices.Contains(f.tools, "shell") && !s.HasShell {
		return nil, errors.New("--tools shell: the policy has no shell: section")
	}
	user := s.Person
	k = &counter{
		plain: command != nil && len(f.tools) == 0, elicits: f.clientAnswers || user.Gateway.Elicitation, hold: cmp.Or(f.hold, user.Gateway.Hold),
	}
	// A way out of the sandbox holds for a session, and clients over HTTP have one each.
	order := open.Order{Use: open.Gateway, Mode: f.mode(), Steps: f.http == "", NoTools: len(f.tools) == 0}
	if k.Base, err = open.Open(c.Context(), s, order); err != nil {
		return nil, err
	}
	k.closers = append(k.closers, k.Base.Close)
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	if !user.Audit.FsyncAll { // else every event is to be on the disk before anybody goes on
		if k.spool, err = gateway.OpenSpool(open.SpoolFolder(s.Places.State)); err != nil {
			return nil, err
		}
	}
	if err := k.openTools(f.tools); err != nil {
		return nil, err
	}
	return k, k.connect(c.Context(), chosen, open.Servers{Pass: f.env, Named: f.name != ""}, f.askTimeout)
}

// choose picks the connectors that are named, all if none is, or makes one of a command. Its
// name may not be that of another connector of the config.
func choose(s *setup.Setup, names, command []string, name string) ([]config.Connector, error) {
	all := s.Connectors
	if command != nil {
		if len(command) == 0 || len(names) > 0 {
			return nil, errors.New("behind -- stands the command of a server, and no name before it")
		}
		made := connector.FromCommand(name, command, s.Dir)
		i := slices.IndexFunc(all, func(c config.Connector) bool { return strings.EqualFold(c.Name, made.Name) })
		if i >= 0 && !connector.SameServer(all[i].Command, command, s.Dir) {
			return nil, fmt.Errorf("the config has another connector named %s, launched as: %s\nGive this server a name of its own with --name NAME", made.Name, connector.Config{Command: all[i].Command, URL: all[i].URL}.Launch())
		}
		return []config.Connector{{Name: made.Name, Command: command}}, nil
	}
	if name != "" {
		return nil, errors.New("--name is for a server behind --; a connector of a config has its name there")
	}
	if len(names) == 0 {
		return all, nil
	}
	var out []config.Connector
	for _, name := range names {
		i := slices.IndexFunc(all, func(c config.Connector) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no connector %q in the config", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// openTools makes the tools of the policy that are wanted.
func (k *counter) openTools(wanted []string) error {
	if len(wanted) == 0 {
		return nil
	}
	box, err := k.Box(k.Configuration, open.Tools{})
	if err != nil {
		return err
	}
	k.closers = append(k.closers, box.Close)
	for _, t := range box.Tools {
		isShell := t.Spec().Name == policy.ActShell
		if isShell && slices.Contains(wanted, "shell") || !isShell && slices.Contains(wanted, "files") {
			k.tools = append(k.tools, t)
		}
	}
	return nil
}

// configure gives tools what config says about their names.
func (k *counter) configure(tools ...tool.Tool) ([]tool.Tool, error) {
	configured, _, err := tool.Configure(k.Tools, tools...)
	return configured, err
}

// connect starts the connectors. What happens to them is told to the gateway.
func (k *counter) connect(ctx context.Context, chosen []config.Connector, as open.Servers, timeout time.Duration) (err error) {
	as.Taken, as.Options = []string{}, k.ear.Listen // a name that is not offered is nobody's
	for _, t := range k.tools {
		as.Taken = append(as.Taken, t.Spec().Name)
	}
	as.Gate = k.Gate(k.Rules)
	as.Gate.Recorder, as.Gate.Approver = k.Store, limited(notified(approval.Queue(k.Store), k.Person), timeout)
	k.foreign, err = k.Base.Connect(ctx, chosen, as)
	if err == nil {
		k.closers = append(k.closers, k.foreign.Close)
	}
	return err
}
