// Package mcpserver is assent as an MCP server: a gateway in front of connectors and of the tools of
// a policy, on the store that all processes share, for clients on the standard streams or over HTTP.
package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// Options say what is offered, to whom, and who is asked.
type Options struct {
	// Connectors pick some of the config's; Command is a server that is started instead, and
	// Name what rules call it.
	Connectors, Command []string
	Name                string
	Env                 []string // passed to the connectors of the config too
	Tools               []string // of the policy: files, shell
	HTTP, TokenFile     string   // the address to serve at instead of the standard streams
	Mode                *policy.Mode
	AskTimeout, Hold    time.Duration
	ClientAnswers       bool
	Version             string
	Report              func(text string) // what a person should know
}

// A Server is what a gateway stands on: the store, the connectors, and the tools of a policy.
type Server struct {
	*open.Base
	Options
	spool     *gateway.Spool // nil if every event is to be on the disk at once
	tools     []tool.Tool
	foreign   *open.Connections
	callbacks gateway.Callbacks
	closers   []func() error
}

// Open opens what the options name.
func Open(ctx context.Context, s *setup.Setup, o Options) (k *Server, err error) {
	chosen, err := choose(s, o.Connectors, o.Command, o.Name)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 && len(o.Tools) == 0 {
		return nil, errors.New("there is nothing to offer: name a server after --, add connectors to your config, or " +
			"use --tools")
	}
	if slices.Contains(o.Tools, "shell") && !s.HasShell {
		return nil, errors.New("--tools shell: the policy has no shell: section")
	}
	user := s.Person
	o.ClientAnswers, o.Hold = o.ClientAnswers || user.Gateway.Elicitation, cmp.Or(o.Hold, user.Gateway.Hold)
	k = &Server{Options: o}
	// A way out of the sandbox holds for a session, and clients over HTTP have one each.
	order := open.Order{Use: open.Gateway, Mode: o.Mode, Steps: o.HTTP == "", NoTools: len(o.Tools) == 0,
		Agent: "MCP client"} // until it says its name
	if k.Base, err = open.Open(ctx, s, order); err != nil {
		return nil, err
	}
	k.closers = append(k.closers, k.Base.Close)
	defer func() {
		if err != nil {
			err = errors.Join(err, k.Close())
		}
	}()
	if !user.Audit.FsyncAll { // else every event is to be on the disk before anybody goes on
		if k.spool, err = gateway.OpenSpool(open.SpoolFolder(s.Places.State)); err != nil {
			return nil, err
		}
	}
	if err := k.openTools(); err != nil {
		return nil, err
	}
	return k, k.connect(ctx, chosen)
}

// Close gives everything back, the last first.
func (s *Server) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// Serve serves until the client has disconnected, or the context ends.
func (s *Server) Serve(ctx context.Context, out io.Writer) error {
	g, err := s.gateway()
	if err != nil {
		return err
	}
	defer g.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	collectSeldom()
	if s.HTTP != "" {
		return s.serveHTTP(ctx, g)
	}
	in, giveBack := polled(os.Stdin, os.Stdout)
	defer giveBack()
	err = g.Serve(ctx, in, out, in.Close)
	if errors.Is(err, io.EOF) {
		return nil // the client has disconnected
	}
	return err
}

// gateway makes the gateway.
func (s *Server) gateway() (*gateway.Gateway, error) {
	report := s.Report
	records := gateway.NewRecorder(s.Store, s.spool, func(err error) { report(err.Error()) })
	s.closers = append(s.closers, records.Close)
	gate := s.Gate(s.InForce())
	gate.Recorder = records
	gate.Approver = s.approver()
	g, err := gateway.New(gateway.Options{
		Gate: gate, Sessions: s.Store, Owner: store.ThisProcess(),
		Connectors: s.foreign.All, Callbacks: &s.callbacks, Tools: s.tools, Configure: s.configure,
		Plain:         s.Command != nil && len(s.Options.Tools) == 0,
		ClientAnswers: s.ClientAnswers, Hold: s.Hold, Report: report, Version: s.Version,
	})
	if err != nil {
		return nil, err
	}
	if text := s.Sandbox.Notice(); text != "" {
		report(text + " 'assent sandbox doctor' says more.")
	}
	for _, c := range s.foreign.All {
		if c.Config().ByCommand {
			launch := c.Config().Launch()
			report(fmt.Sprintf("connector %s is %s; rules name its tools %s:TOOL", c.Name(), launch, c.Name()))
		}
		if err := c.Err(); err != nil {
			report(err.Error())
		}
	}
	return g, nil
}

// approver is whoever answers in another process.
func (s *Server) approver() approval.Approver {
	return runs.Waiting(approval.Queue(s.Store), s.Person, s.AskTimeout)
}

// choose picks the connectors that are named, all if none is, or makes one of a command. Its
// name may not be that of another connector of the config.
func choose(s *setup.Setup, names, command []string, name string) ([]config.Connector, error) {
	all := s.Connectors
	if command != nil {
		if len(command) == 0 || len(names) > 0 {
			return nil, errors.New("write the server's command after --, and no name before it")
		}
		made := connector.FromCommand(name, command, s.Dir)
		i := slices.IndexFunc(all, func(c config.Connector) bool { return strings.EqualFold(c.Name, made.Name) })
		if i >= 0 && !connector.SameServer(all[i].Command, command, s.Dir) {
			other := connector.Config{Command: all[i].Command, URL: all[i].URL}
			return nil, fmt.Errorf("the config has another connector named %s, launched as: %s\n"+
				"Give this server another name with --name NAME", made.Name, other.Launch())
		}
		return []config.Connector{{Name: made.Name, Command: command}}, nil
	}
	if name != "" {
		return nil, errors.New("--name is for a server after --; a connector of a config file has its name there")
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
func (s *Server) openTools() error {
	wanted := s.Options.Tools
	if len(wanted) == 0 {
		return nil
	}
	box, err := s.Box(s.Configuration, open.Tools{})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, box.Close)
	for _, t := range box.Tools {
		isShell := t.Spec().Name == policy.ActShell
		if isShell && slices.Contains(wanted, "shell") || !isShell && slices.Contains(wanted, "files") {
			s.tools = append(s.tools, t)
		}
	}
	return nil
}

// configure gives tools what config says about their names.
func (s *Server) configure(tools ...tool.Tool) ([]tool.Tool, error) {
	configured, _, err := tool.Configure(s.Base.Tools, tools...)
	return configured, err
}

// connect starts the connectors. What happens to them is told to the gateway.
func (s *Server) connect(ctx context.Context, chosen []config.Connector) (err error) {
	as := open.Servers{
		Pass: s.Env, Named: s.Name != "", Options: s.callbacks.Listen, Gate: s.Gate(s.InForce()),
		Taken: []string{}, // a name that is not offered is nobody's
	}
	for _, t := range s.tools {
		as.Taken = append(as.Taken, t.Spec().Name)
	}
	as.Gate.Recorder, as.Gate.Approver = s.Store, s.approver()
	s.foreign, err = s.Base.Connect(ctx, chosen, as)
	if err == nil {
		s.closers = append(s.closers, s.foreign.Close)
	}
	return err
}

// collectSeldom makes the runtime tidy up less often, unless the user says how often: what
// stays of a call is little beside what it leaves behind.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// serveHTTP serves those who have the token.
func (s *Server) serveHTTP(ctx context.Context, g *gateway.Gateway) error {
	file := cmp.Or(s.TokenFile, filepath.Join(s.Places.State, "mcp-token"))
	token, err := readToken(file)
	if err != nil {
		return err
	}
	return g.ListenHTTP(ctx, s.HTTP, token, func(at net.Addr) {
		s.Report(fmt.Sprintf("listening at http://%s; clients send the token in %s as 'Authorization: Bearer TOKEN'",
			at, file))
	})
}

// readToken reads the token in a file, which is made if it is not there.
func readToken(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.WriteString(f, rand.Text()+rand.Text()+"\n")
		err = errors.Join(err, f.Close())
	} else if errors.Is(err, os.ErrExist) {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("making the token: %w", err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data)), nil
}
