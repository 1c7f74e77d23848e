package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
)

// A Client is something that runs and connects: a command, a program of a custom tool, a server.
type Client struct {
	Policy hosts.Policy
	Dialer Dialer
	// Decide decides about a connection; nil as an error lets it go on.
	Decide func(ctx context.Context, c hosts.Connection) error
	// Denied says why an address is denied that an agreed host turns out to have.
	Denied func(ctx context.Context, c hosts.Connection) error
	// Ended is told of each connection that has ended or was refused.
	Ended func(c hosts.Connection, e stage.Connection)
}

// options are those of a stage or proxy for clients that are told apart by of. A connection that is
// of none of them for certain is refused, and recorded with the one that last says.
func options(helper []string, local []uint16, of func(stage.Host) *Client, last func() *Client) stage.Options {
	return stage.Options{
		Helper: helper, Local: local,
		Dial: func(ctx context.Context, h stage.Host) (net.Conn, error) {
			c := of(h)
			if c == nil {
				return nil, errors.New("it is unknown which command connects; run one command at a time, " +
					"or end what runs in the background")
			}
			h = c.local(h)
			if err := c.Decide(ctx, connection(h)); err != nil {
				return nil, err
			}
			return c.Dialer.Open(ctx, c.Policy, h, c.Denied)
		},
		Ended: func(e stage.Connection) {
			if c := cmp.Or(of(e.Host), last()); c != nil && c.Ended != nil {
				c.Ended(connection(c.local(e.Host)), e)
			}
		},
	}
}

// local gives a port of this machine's loopback the name that it is listed by.
func (c *Client) local(h stage.Host) stage.Host {
	if h.Addr.IsLoopback() && c.Policy.Names("localhost", strconv.Itoa(int(h.Port))) {
		h.Name, h.Addr = "localhost", netip.Addr{}
	}
	return h
}

func connection(h stage.Host) hosts.Connection {
	name := h.Name
	if name == "" {
		name = h.Addr.String()
	}
	return hosts.Connection{Host: name, Port: strconv.Itoa(int(h.Port)), Program: h.Program, Number: h.Number}
}

// Proxy serves a listener as a stage would, for programs that know proxies. It returns when
// ctx ends.
func (c *Client) Proxy(ctx context.Context, l net.Listener) {
	_ = stage.Proxy(ctx, l, options(nil, nil, func(stage.Host) *Client { return c }, func() *Client { return c }))
}

type clientKey struct{}

// WithClient returns a context for the Start of a command whose connections are those of the
// client.
func WithClient(ctx context.Context, c *Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// A Runner starts commands whose profile decides about connections by name on a stage, and
// others as they are. Commands of one Runner share a stage as long as one of them runs, so that
// one reaches what another serves.
type Runner struct {
	stage.Through
	policy hosts.Policy
	dialer Dialer
	stage  *stage.Stage
	last   atomic.Pointer[Client] // of the command that was started last
}

// New returns a runner. Helper is the command line of a process that makes stages.
func New(r stage.Through, helper []string, p hosts.Policy, d Dialer) *Runner {
	out := &Runner{Through: r, policy: p, dialer: d}
	out.stage = stage.New(options(helper, p.Local(), func(h stage.Host) *Client {
		c, _ := h.Command.(*Client)
		return c
	}, out.last.Load))
	return out
}

// Start starts the command. Without a client of its own ([WithClient]) its connections are put
// to the gate of the call that runs in the context.
func (r *Runner) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if !c.Profile.Network.ByName {
		return r.Through.Start(ctx, c)
	}
	client, ok := ctx.Value(clientKey{}).(*Client)
	if !ok {
		client = InCall(ctx, r.policy, r.dialer, func(ctx context.Context, c hosts.Connection) error {
			return tool.RunningIn(ctx).Connections().Connect(ctx, tool.Connecting{Connection: c, Policy: r.policy})
		})
	}
	r.last.Store(client)
	p, err := r.stage.Over(r.Through).Start(stage.WithCommand(ctx, client), c)
	if err != nil {
		return nil, fmt.Errorf("on a network of its own: %w", err)
	}
	return p, nil
}

// Captured says which ports are brought here, if the system does not let all of them be; empty
// if it does. Connections to others are refused by the system.
func (r *Runner) Captured() string {
	var out []string
	for _, port := range r.stage.Captured() {
		out = append(out, strconv.Itoa(int(port)))
	}
	return strings.Join(out, ", ")
}

// For returns a runner whose commands are all this client.
func (r *Runner) For(c *Client) sandbox.Runner { return &clientRunner{r, c} }

type clientRunner struct {
	*Runner
	client *Client
}

// Start starts a command of the client.
func (r *clientRunner) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	return r.Runner.Start(WithClient(ctx, r.client), c)
}

// Outside is a client for something that no call started: a server, or a command of a person. Its
// connections are put to the gate that they belong to; what says in a line what wants them.
func Outside(of *tool.Connections, p hosts.Policy, d Dialer, what string) *Client {
	return recorded(p, d, func(ctx context.Context, c hosts.Connection) error {
		return of.Connect(ctx, tool.Connecting{Connection: c, Policy: p, For: what, Same: what})
	}, of.Denied, func(c hosts.Connection, e stage.Connection) error {
		return of.Ended(context.Background(), c, e.Sent, e.Received, e.Duration, e.Err)
	})
}

// InCall is a client for what a call starts: its connections are put to decide in the context of
// the call, and recorded with it.
func InCall(call context.Context, p hosts.Policy, d Dialer, decide func(context.Context, hosts.Connection) error) *Client {
	r := tool.RunningIn(call)
	return recorded(p, d, func(ctx context.Context, c hosts.Connection) error {
		return decide(r.In(ctx), c)
	}, func(ctx context.Context, c hosts.Connection) error {
		return r.Connections().Denied(r.In(ctx), c)
	}, func(c hosts.Connection, e stage.Connection) error {
		return r.Connections().Ended(context.WithoutCancel(call), c, e.Sent, e.Received, e.Duration, e.Err)
	})
}

// recorded is a client whose connections are recorded when they end. When one cannot be, no
// other is let through.
func recorded(p hosts.Policy, d Dialer, decide, denied func(context.Context, hosts.Connection) error,
	record func(hosts.Connection, stage.Connection) error) *Client {
	var lost atomic.Pointer[error]
	return &Client{
		Policy: p, Dialer: d, Denied: denied,
		Decide: func(ctx context.Context, c hosts.Connection) error {
			if err := lost.Load(); err != nil {
				return fmt.Errorf("an earlier connection could not be recorded: %w", *err)
			}
			return decide(ctx, c)
		},
		Ended: func(c hosts.Connection, e stage.Connection) {
			if err := record(c, e); err != nil {
				lost.Store(&err)
			}
		},
	}
}
