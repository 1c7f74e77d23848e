package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/sandbox/host"
	"github.com/assent-dev/assent/tool"
	pinned "github.com/assent-dev/assent/tool/command"
	"github.com/assent-dev/assent/tool/connector"
)

// open opens what the flags and arguments name. Those behind the dash are a command.
func (f *mcpFlags) open(ctx context.Context, state string, args []string, dash int) (k *counter, err error) {
	user, err := userConfig()
	if err != nil {
		return nil, err
	}
	policy := user.Policy
	file := ""
	if f.config != "" {
		read, err := config.Read(f.config, "")
		if err != nil {
			return nil, err
		}
		policy, file = read.Policy, read.Path
	}
	names, command := args, []string(nil)
	if dash >= 0 {
		names, command = args[:dash], args[dash:]
	}
	chosen, err := choose(policy.Connectors, names, command)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 && len(f.tools) == 0 {
		return nil, errors.New("there is nothing to offer: name a server behind --, put connectors into your config, or use --tools")
	}
	k = &counter{
		user: user, session: rand.Text(), rules: policy.Rules, mode: user.Switched(cmp.Or(f.mode(), user.Mode)), plain: command != nil && len(f.tools) == 0,
		elicits: f.clientAnswers || user.Gateway.Elicitation, hold: cmp.Or(f.hold, user.Gateway.Hold),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	if err := k.openStore(ctx, state); err != nil {
		return nil, err
	}
	k.configure = func(tools ...tool.Tool) ([]tool.Tool, error) {
		configured, _, err := tool.Configure(policy.Tools, tools...)
		return configured, err
	}
	if err := k.openTools(ctx, policy, file, state, f); err != nil {
		return nil, err
	}
	return k, k.openConnectors(ctx, policy, chosen, f.config, state)
}

// openStore opens the store. Its master switch the gate looks at itself, for every call.
func (k *counter) openStore(ctx context.Context, state string) error {
	s, err := openStore(ctx, state)
	if err != nil {
		return err
	}
	k.store = s
	k.closers = append(k.closers, s.Close)
	if !k.user.Audit.FsyncAll { // else every event is to be on the disk before anybody goes on
		if k.spool, err = gateway.OpenSpool(spoolFolder(state)); err != nil {
			return err
		}
	}
	return tidyLog(ctx, s, k.user.Audit)
}

// choose picks the connectors that are named, all if none is, or makes one of a command.
func choose(all []config.Connector, names, command []string) ([]config.Connector, error) {
	if command != nil {
		if len(command) == 0 || len(names) > 0 {
			return nil, errors.New("behind -- stands the command of a server, and no name before it")
		}
		return []config.Connector{{Name: commandConnector(command), Command: command}}, nil
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

// commandConnector names a server that has no name: by its program.
func commandConnector(command []string) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, filepath.Base(command[0]))
	return cmp.Or(strings.Trim(name, "-"), "server")
}

// openTools makes the tools of the policy that are wanted.
func (k *counter) openTools(ctx context.Context, policy *config.Policy, file, state string, f *mcpFlags) error {
	wanted := f.tools
	if len(wanted) == 0 {
		return nil
	}
	files := slices.DeleteFunc([]string{file}, func(s string) bool { return s == "" })
	held, err := findSandbox(ctx, policy, state, files...)
	if err != nil {
		return err
	}
	k.held = held
	k.closers = append(k.closers, held.close)
	// A way out holds for a session, and clients over HTTP have one each.
	held.steps = k.mode == approval.ModeAsk && f.http == ""
	rules, err := k.store.Rules(ctx)
	if err != nil {
		return err
	}
	box, err := toolbox.Open(policy, toolbox.Options{
		State: state, Protected: files, Environ: os.Environ(), Undo: undoFolder(state, file),
		Folder: filepath.Dir(file), File: policy.File, Hold: held.hold, Rules: rules.Rules(),
		Later: laterDeny(rules.Rules(), k.store.Rules, k.store.AllGrants),
	})
	if err != nil {
		return err
	}
	k.closers = append(k.closers, box.Close)
	for _, t := range box.Tools {
		isShell := t.Spec().Name == approval.Shell
		if isShell && slices.Contains(wanted, "shell") || !isShell && slices.Contains(wanted, "files") {
			k.tools = append(k.tools, t)
		}
	}
	if slices.Contains(wanted, "shell") && !policy.HasShell {
		return errors.New("--tools shell: the policy has no shell: in it")
	}
	return nil
}

// openConnectors opens the connectors. What happens to them is told to the gateway.
func (k *counter) openConnectors(ctx context.Context, policy *config.Policy, chosen []config.Connector, file, state string) error {
	names := &connector.Names{}
	var own []string
	for _, t := range k.tools {
		own = append(own, t.Spec().Name)
	}
	names.Set(connector.BuiltIn, own...)
	held, err := k.holdConnectors(ctx, policy, chosen, file, state)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	var configs []connector.Config
	for _, c := range chosen {
		configs = append(configs, connectorConfig(c, file == "" && c.Source == ""))
	}
	pins := connector.NewFolderPins(pinsFolder(state))
	var programs pinned.Programs
	k.connectors, err = connector.OpenAll(ctx, configs, func(cfg connector.Config) connector.Options {
		opts := k.ear.Listen(connector.Options{Runner: host.None{}, Dir: dir, Environ: os.Environ(), Pins: pins, Names: names})
		opts.Verify = programs.Verify(cfg.Command, dir, opts.Environ)
		if i := slices.IndexFunc(chosen, func(c config.Connector) bool { return c.Name == cfg.Name }); chosen[i].Sandboxed {
			opts.Runner, opts.Profile = held.Runner, held.profile(cfg.Command, dir)
		}
		return opts
	})
	return err
}

// connectorConfig is a connector of a config. One of a command line is pinned by that.
func connectorConfig(c config.Connector, byCommand bool) connector.Config {
	out := connector.Config{
		Name: c.Name, Command: c.Command, Env: c.Env, URL: c.URL, Headers: c.Headers,
		Targets: c.Targets, TrustAnnotations: c.TrustAnnotations, Source: c.Source,
	}
	if byCommand {
		out.PinnedAs = c.Name + " " + approval.DigestOf([]byte(strings.Join(c.Command, "\x00"))).String()
	}
	return out
}

// holdConnectors finds the sandbox for connectors that want one.
func (k *counter) holdConnectors(ctx context.Context, policy *config.Policy, chosen []config.Connector, file, state string) (heldConnectors, error) {
	if file == "" && slices.ContainsFunc(chosen, isSandboxed) {
		return heldConnectors{}, errors.New("a connector that is sandboxed needs a policy that says what it may reach; name it with -c")
	}
	rules, err := k.store.Rules(ctx)
	if err != nil {
		return heldConnectors{}, err
	}
	files := slices.DeleteFunc([]string{file}, func(s string) bool { return s == "" })
	held, err := holdConnectors(ctx, chosen, &derived{policy: policy, rules: rules.Rules()}, state, files...)
	k.closers = append(k.closers, held.Close)
	return held, err
}
