package open

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
	"github.com/assent-dev/assent/tool/hosts"
)

// Servers say how connectors are started.
type Servers struct {
	// Taken are the names of tools that a stranger's tool should not be taken for; nil means
	// all built-in ones.
	Taken []string
	// Named says that a person gave the server of a command line its name.
	Named bool
	// Pass are variables of our environment that connectors of config get besides their own.
	Pass []string
	// Gate is what connections of sandboxed connectors are put to, with who answers and where it
	// is recorded.
	Gate approval.Config
	// Options changes the options of each; nil leaves them as they are.
	Options func(connector.Options) connector.Options
}

// Connections are connectors whose servers run. Close them when the last call has ended.
type Connections struct {
	All []*connector.Connector

	of   []config.Connector
	held heldServers
}

// Connect starts connectors of the setup's policy, or of the command line. One that cannot be
// reached has no tools and says why ([connector.Connector.Err]); the others go on.
func (b *Base) Connect(ctx context.Context, of []config.Connector, s Servers) (c *Connections, err error) {
	c = &Connections{of: of}
	if len(of) == 0 {
		return c, nil
	}
	if c.held, err = b.holdServers(ctx, of, s.Gate); err != nil {
		return c, err
	}
	byName := map[string]config.Connector{}
	configs := make([]connector.Config, len(of))
	for i, cfg := range of {
		if err := b.startable(cfg); err != nil {
			return c, errors.Join(err, c.Close())
		}
		configs[i], byName[cfg.Name] = b.connectorConfig(cfg), cfg
		if cfg.Source != "" {
			configs[i].Pass = s.Pass
		} else {
			configs[i].Named = s.Named
		}
	}
	names := &connector.Names{}
	if s.Taken == nil {
		s.Taken = config.BuiltinTools()
	}
	names.Set(connector.BuiltIn, s.Taken...)
	pins := connector.NewFolderPins(PinsFolder(b.Places.State))
	c.All, err = connector.OpenAll(ctx, configs, func(cfg connector.Config) connector.Options {
		opts := connector.Options{Runner: launch.None{}, Dir: b.folderOf(byName[cfg.Name]), Environ: os.Environ(),
			Pins: pins, Names: names}
		opts.Verify = b.Programs.Verify(cfg.Command, opts.Dir, opts.Environ)
		if byName[cfg.Name].Sandboxed {
			opts.Runner, opts.Profile = c.held.runner(cfg.Name), c.held.profile(cfg.Command, opts.Dir)
		}
		if s.Options != nil {
			opts = s.Options(opts)
		}
		return opts
	})
	if err != nil {
		err = errors.Join(err, c.Close())
	}
	return c, err
}

// PinsFolder is where definitions of connectors' tools are kept.
func PinsFolder(state string) string { return filepath.Join(state, "pins") }

// connectorConfig is a connector of a config, or of a command line, which has no source.
func (b *Base) connectorConfig(c config.Connector) connector.Config {
	if c.Source == "" {
		return connector.FromCommand(c.Name, c.Command, b.Dir)
	}
	return connector.Config{
		Name: c.Name, Command: c.Command, Env: c.Env, URL: c.URL, Headers: c.Headers,
		Targets: c.Targets, TrustAnnotations: c.TrustAnnotations, Source: c.Source,
	}
}

// ownServer reports whether the file that holds here names the connector: its command line is
// read from that file's folder.
func (b *Base) ownServer(cfg config.Connector) bool {
	return b.File != nil && strings.HasPrefix(cfg.Source, b.File.Policy.File+":")
}

// folderOf is where a server runs: in the folder of the file that names it, or else where the
// calls come from.
func (b *Base) folderOf(cfg config.Connector) string {
	if b.ownServer(cfg) {
		return b.File.Folder
	}
	return b.Dir
}

// startable refuses a program that would be looked for in a project's folder though the
// project did not name it. A person who types a command line means the folder they are in.
func (b *Base) startable(cfg config.Connector) error {
	if len(cfg.Command) == 0 || cfg.Source == "" || b.ownServer(cfg) {
		return nil
	}
	if program := cfg.Command[0]; strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		return fmt.Errorf("%s: connector %s: its program %s is relative to the current folder, which another project "+
			"may control; write its absolute path", cfg.Source, cfg.Name, program)
	}
	return nil
}

// Tools are the tools of some of the connectors.
func (c *Connections) Tools(of []config.Connector) []tool.Tool {
	var out []tool.Tool
	for i, o := range c.All {
		if slices.ContainsFunc(of, func(cfg config.Connector) bool { return cfg.Name == c.of[i].Name }) {
			out = append(out, o.Tools()...)
		}
	}
	return out
}

// Close ends the servers.
func (c *Connections) Close() error {
	connector.CloseAll(c.All)
	if c.held.gate != nil {
		c.held.gate.Close()
	}
	return c.held.Close()
}

// heldServers is what holds the connectors that are sandboxed. The zero value holds none.
type heldServers struct {
	detect.Found
	reach   sandbox.Profile
	policy  hosts.Policy
	session string
	gate    *tool.Gate // where connections are decided about; nil if they are not
}

// holdServers finds the sandbox for connectors that want one: the profile of commands, without
// secrets, as nobody is asked what a server reads. Without a sandbox none of them starts; nor
// does anything where the policy requires one.
func (b *Base) holdServers(ctx context.Context, of []config.Connector,
	gate approval.Config) (held heldServers, err error) {
	wanted := slices.ContainsFunc(of, func(c config.Connector) bool { return c.Sandboxed })
	if !wanted && !b.OS.Require {
		return held, nil
	}
	p, err := b.CommandProfile(true)
	if err != nil {
		return held, err
	}
	held.reach = p.Denied.Hide(p.Profile).Sorted()
	if held.Found, err = b.Sandboxed(ctx, held.reach, true); err != nil && wanted {
		err = fmt.Errorf("a connector is to be sandboxed: %w", err)
	}
	if err != nil || held.Stage == nil {
		held.reach.Network = held.reach.Network.Unwatched()
		return held, err
	}
	held.reach.Network, held.policy = held.reach.Network.Staged(), b.StagedHosts()
	held.session = b.Session
	held.gate, err = tool.Guard(gate)
	return held, err
}

// StagedHosts is what commands on a stage may reach.
func (b *Base) StagedHosts() hosts.Policy {
	p := b.Shell.Network
	p.Staged, p.Own, p.Public = true, network.Own(), network.Public
	return p
}

// runner starts a server: on a stage, where its connections are decided about, if there is one.
func (h heldServers) runner(name string) sandbox.Runner {
	through, ok := h.Runner.(stage.Through)
	if h.gate == nil || !ok {
		return h.Runner
	}
	of := h.gate.Connections(policy.Call{Connector: name, Tool: policy.ActConnect, Session: h.session})
	return network.New(through, h.Stage, h.policy, network.Dialer{}).
		For(network.Outside(of, h.policy, network.Dialer{}, "connector "+name))
}

// profile is what a server may reach: what commands may, and the files that its command
// line names.
func (h heldServers) profile(command []string, dir string) sandbox.Profile {
	p := h.reach
	p.Roots = slices.Clone(p.Roots)
	for _, word := range command {
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		file, err := filepath.EvalSymlinks(word)
		if err != nil {
			continue // it names none
		}
		info, err := os.Stat(file)
		_, hidden := p.Hidden(file)
		if err == nil && info.Mode().IsRegular() && p.At(file) == sandbox.ModeHidden && !hidden && !launch.Shared(file) {
			source := "the connector's command line"
			p.Roots = append(p.Roots, sandbox.Root{Path: file, Mode: sandbox.ModeReadOnly, Source: source})
		}
	}
	return p
}
