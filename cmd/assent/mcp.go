package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
)

type mcpFlags struct {
	askFlags
	config, state   string
	http, tokenFile string
	name            string
	env, tools      []string
	hold            time.Duration
	clientAnswers   bool
}

func mcpCmd() *cobra.Command {
	var flags mcpFlags
	c := &cobra.Command{
		Use:   "mcp [-c CONFIG] [NAME…] | mcp [FLAGS] -- COMMAND [ARGS…]",
		Short: "Be an MCP server that asks before the tools of others run",
		Long: "mcp offers the tools of the connectors in a config, or of one MCP server that it starts, to\n" +
			"any MCP client, and takes every call through the gate. What must be asked waits where all\n" +
			"processes see it; a client that cannot wait as long is told to call again.\n\n" +
			"Without -c what holds is your own config and the policy of the project that this folder\n" +
			"belongs to. NAMEs pick some of the connectors.\n\n" +
			"A server behind -- gets the whole environment of mcp, as from the client that would start it; a\n" +
			"connector of a config gets PATH, HOME and the like, the env of the config, and what --env names.",
		Example: "  assent mcp -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n" +
			"  assent mcp github\n" +
			"  assent mcp -c policy.yaml --tools files,shell",
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.check(c); err != nil {
				return err
			}
			return flags.run(c, args)
		},
	}
	flags.register(c)
	c.Flags().StringVarP(&flags.config, "config", "c", "", "the policy, worker or config file (default: your own config, and the project's policy)")
	c.Flags().StringVar(&flags.state, "state", "", "the state folder (default: assent's own)")
	c.Flags().StringVar(&flags.http, "http", "", "serve over HTTP at this address of this machine, such as 127.0.0.1:7777, instead of on standard streams")
	c.Flags().StringVar(&flags.tokenFile, "token-file", "", "the file with the token that clients over HTTP need; made if it is not there (default: mcp-token in the state folder)")
	c.Flags().StringVar(&flags.name, "name", "", "what rules call the server behind -- (default: made of what is launched)")
	c.Flags().StringArrayVar(&flags.env, "env", nil, "pass this environment variable to the connectors of the config too; repeatable")
	c.Flags().StringSliceVar(&flags.tools, "tools", nil, "offer tools of the policy too: files, shell")
	c.Flags().DurationVar(&flags.hold, "hold", 0, "how long a call is held before the client is told to call again (default 50s)")
	c.Flags().BoolVar(&flags.clientAnswers, "client-answers", false, "let the user of the agent's own client answer, once each time")
	return c
}

// check refuses flags that make no sense.
func (f *mcpFlags) check(c *cobra.Command) error {
	for _, name := range f.tools {
		if name != "files" && name != "shell" {
			return misused(c, "--tools %q: it is files, shell or both", name)
		}
	}
	for _, name := range f.env {
		if _, set := os.LookupEnv(name); !set {
			return misused(c, "--env %s: there is no such variable in the environment; set it where the agent starts assent", name)
		}
	}
	if f.http != "" {
		if err := gateway.Loopback(f.http); err != nil {
			return misused(c, "--http: %v", err)
		}
	}
	return f.askFlags.check(c)
}

func (f *mcpFlags) run(c *cobra.Command, args []string) (err error) {
	ctx, stderr := c.Context(), c.ErrOrStderr()
	counter, err := f.open(c, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counter.close()) }()
	warnApprovals(c, counter.Store)
	report := func(text string) { fmt.Fprintln(stderr, "assent: "+shownText(text)) }
	g, err := counter.gateway(ctx, f, report)
	if err != nil {
		return err
	}
	defer g.Close()
	collectSeldom()
	if f.http != "" {
		return f.serveHTTP(ctx, g, counter.Places.State, report)
	}
	in, giveBack := polled(os.Stdin, os.Stdout)
	defer giveBack()
	err = g.Serve(ctx, in, c.OutOrStdout(), in.Close)
	if errors.Is(err, io.EOF) {
		return nil // the client is gone
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
func (f *mcpFlags) serveHTTP(ctx context.Context, g *gateway.Gateway, state string, report func(string)) error {
	file := f.tokenFile
	if file == "" {
		file = filepath.Join(state, "mcp-token")
	}
	token, err := readToken(file)
	if err != nil {
		return err
	}
	return g.ListenHTTP(ctx, f.http, token, func(at net.Addr) {
		report(fmt.Sprintf("listening at http://%s; clients send the token in %s as 'Authorization: Bearer TOKEN'", at, file))
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

// A counter is what a gateway stands on: the store, the connectors, and the tools of a
// policy.
type counter struct {
	*open.Base
	spool   *gateway.Spool // nil if every event is to be on the disk at once
	plain   bool
	tools   []tool.Tool
	foreign *open.Connections
	closers []func() error

	elicits bool
	hold    time.Duration
	ear     gateway.Ear
}

// close gives everything back, the last first.
func (k *counter) close() error {
	var errs []error
	for i := len(k.closers) - 1; i >= 0; i-- {
		errs = append(errs, k.closers[i]())
	}
	return errors.Join(errs...)
}

// gateway puts a gateway on the counter.
func (k *counter) gateway(ctx context.Context, f *mcpFlags, report func(string)) (*gateway.Gateway, error) {
	records := gateway.NewLater(k.Store, k.spool, func(err error) { report(err.Error()) })
	k.closers = append(k.closers, records.Close)
	gate := k.Gate(k.Rules)
	gate.Recorder = records
	gate.Approver = runs.Waiting(approval.Queue(k.Store), k.Person, f.askTimeout)
	g, err := gateway.New(gateway.Options{
		Gate: gate, Sessions: k.Store, Owner: store.ThisProcess(),
		Connectors: k.foreign.All, Ear: &k.ear, Tools: k.tools, Configure: k.configure, Plain: k.plain,
		ClientAnswers: k.elicits, Hold: k.hold, Report: report, Version: thisBuild().Version,
	})
	if err != nil {
		return nil, err
	}
	if text := k.Sandbox.Notice(); text != "" {
		report(text + " 'assent sandbox doctor' says more.")
	}
	for _, c := range k.foreign.All {
		if c.Config().ByCommand {
			report(fmt.Sprintf("connector %s is %s; rules name its tools %s:TOOL", c.Name(), c.Config().Launch(), c.Name()))
		}
		if err := c.Err(); err != nil {
			report(err.Error())
		}
	}
	return g, ctx.Err()
}
