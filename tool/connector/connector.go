package connector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/tool"
)

// A Connector is an MCP server whose tools can be called. It is safe for concurrent use.
// Make one with [Open].
type Connector struct {
	cfg      Config
	opts     Options
	stderr   *tail
	lists    *lists
	progress listeners
	late     error // of a call that it does not answer
	stop     context.CancelFunc
	over     chan struct{} // closed when nothing of it runs any more
	tried    chan struct{} // closed when it was tried to connect once

	mu      sync.Mutex
	session *session // nil while it is not connected
	down    error    // why
}

// Open starts the connector and waits until its server was tried once. A server that
// cannot be reached is no error: it is tried again, and until then the connector has no
// tools; see [Connector.Err]. An error is one of the config. The connector lives until it
// is closed.
func Open(ctx context.Context, cfg Config, opts Options) (*Connector, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	living, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Connector{
		cfg: cfg, opts: opts.withDefaults(), stderr: &tail{}, stop: stop,
		over: make(chan struct{}), tried: make(chan struct{}), down: errors.New("it was not tried yet"),
	}
	c.late = fmt.Errorf("connector %s did not answer within %v", cfg.Name, c.opts.CallTimeout)
	c.lists = newLists(c)
	if err := c.unlessTaken(ctx); err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(c.over)
		c.supervise(living)
	}()
	select {
	case <-c.tried:
		return c, nil
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), c.Close())
	}
}

// Close ends the server and waits until it is gone.
func (c *Connector) Close() error {
	c.stop()
	<-c.over
	return nil
}

// Name is what rules call the connector.
func (c *Connector) Name() string { return c.cfg.Name }

// Config returns the config that the connector was opened with.
func (c *Connector) Config() Config { return c.cfg }

// Stderr returns the end of what the server said on its standard error. It is raw.
func (c *Connector) Stderr() string { return c.stderr.text() }

// Err is nil while the connector is connected, and otherwise a [*NotConnectedError].
func (c *Connector) Err() error {
	_, err := c.connected()
	return err
}

// Session returns the connection as the SDK knows it, for what is no call of a tool:
// prompts, resources, completion. The error is a [*NotConnectedError].
func (c *Connector) Session() (*mcp.ClientSession, error) {
	s, err := c.connected()
	if err != nil {
		return nil, err
	}
	return s.ClientSession, nil
}

func (c *Connector) connected() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return nil, &NotConnectedError{Connector: c.cfg.Name, Err: c.down}
	}
	return c.session, nil
}

func (c *Connector) set(s *session, down error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.down = s, down
}

// Tools returns the tools that the server offered when it last listed them. A tool that
// is gone by the time it is called is refused.
func (c *Connector) Tools() []tool.Tool {
	var out []tool.Tool
	for _, name := range c.lists.current().names {
		out = append(out, &Tool{connector: c, name: name})
	}
	return out
}

// Refresh has the server list its tools again.
func (c *Connector) Refresh(ctx context.Context) error {
	s, err := c.connected()
	if err != nil {
		return err
	}
	return c.lists.refresh(ctx, s)
}

func (c *Connector) report(kind EventKind, tool, text string) {
	c.opts.Report(Event{Connector: c.cfg.Name, Kind: kind, Tool: tool, Text: text})
}

func (c *Connector) misbehaved(why error) { c.report(EventMisbehaved, "", why.Error()) }

// OpenAll opens connectors that are used together, with options that each gets for itself;
// those for which there is no Names share one. Connectors that are known come first, all at
// once, and those that are met for the first time after them, in order: so a new one whose
// tool looks like another's is seen to be the newcomer. With an error none is open.
func OpenAll(ctx context.Context, configs []Config, optionsFor func(Config) Options) ([]*Connector, error) {
	names := &Names{}
	out, errs := make([]*Connector, len(configs)), make([]error, len(configs))
	open := func(i int, opts Options) { out[i], errs[i] = Open(ctx, configs[i], opts) }
	var known sync.WaitGroup
	var strangers []func()
	for i, cfg := range configs {
		opts := optionsFor(cfg)
		if opts.Names == nil {
			opts.Names = names
		}
		if met(ctx, cfg, opts) {
			known.Go(func() { open(i, opts) })
		} else {
			strangers = append(strangers, func() { open(i, opts) })
		}
	}
	known.Wait()
	for _, stranger := range strangers {
		stranger()
	}
	if err := errors.Join(errs...); err != nil {
		CloseAll(out)
		return nil, err
	}
	return out, nil
}

// met reports whether the connector was met before. What cannot be read counts as new; the
// connector itself reports it.
func met(ctx context.Context, cfg Config, opts Options) bool {
	if opts.Pins == nil {
		return false
	}
	_, met, err := opts.Pins.Get(ctx, cfg.pinnedAs(), "")
	return met && err == nil
}

// CloseAll closes connectors, all at once, and waits for them.
func CloseAll(connectors []*Connector) {
	var closing sync.WaitGroup
	for _, c := range connectors {
		if c != nil {
			closing.Go(func() { c.Close() })
		}
	}
	closing.Wait()
}

// steady is how long a connection must have held for its end to count as the first.
const steady = time.Minute

// supervise keeps the connector connected until ctx is done.
func (c *Connector) supervise(ctx context.Context) {
	defer c.set(nil, fmt.Errorf("it was closed"))
	tried := sync.OnceFunc(func() { close(c.tried) })
	defer tried()
	for failures := 0; ctx.Err() == nil; failures++ {
		began := time.Now()
		if err := c.once(ctx, tried); ctx.Err() == nil {
			wait := c.opts.Backoff(failures)
			c.report(EventDisconnected, "", fmt.Sprintf("%v; it is tried again in %v", err, wait))
			tried()
			pause(ctx, wait)
		}
		if time.Since(began) > steady {
			failures = -1
		}
	}
}

// once connects, lists the tools, and waits for the end of the connection.
func (c *Connector) once(ctx context.Context, ready func()) error {
	s, err := c.dial(ctx)
	if err != nil {
		c.set(nil, err)
		return err
	}
	closing := context.AfterFunc(ctx, func() { _ = s.Close() }) // its end is waited for below
	defer closing()
	if err := c.lists.refresh(ctx, s); err != nil {
		_ = s.Close() // it is of no use
		_ = s.wait()
		err = fmt.Errorf("its tools cannot be listed: %w", err)
		c.set(nil, err)
		return err
	}
	c.set(s, nil)
	c.report(EventConnected, "", fmt.Sprintf("%d tools", len(c.lists.current().names)))
	ready()
	err = fmt.Errorf("%w%s", s.wait(), c.stderr.said())
	c.set(nil, err)
	return err
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
