package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/tool/connector"
)

// Callbacks let connectors speak to a gateway that is made after them. What they say before
// is not lost: a gateway looks for itself when it is made. The zero Callbacks are ready.
type Callbacks struct{ gateway atomic.Pointer[Gateway] }

// Listen returns the options of a connector that speaks to the gateway.
func (c *Callbacks) Listen(opts connector.Options) connector.Options {
	opts.Report = func(event connector.Event) {
		if g := c.gateway.Load(); g != nil {
			g.connectorEvent(event)
		}
	}
	opts.Heard = func(from string, p mcp.Params) {
		if g := c.gateway.Load(); g != nil {
			g.heard(from, p)
		}
	}
	opts.Elicit = func(ctx context.Context, from string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		if g := c.gateway.Load(); g != nil {
			return g.elicit(ctx, from, p)
		}
		return nil, errors.New("no client is connected yet")
	}
	opts.Sample = c.sample
	return opts
}

//lint:file-ignore SA1019 servers still ask for the client's model, and clients still offer it

// sample is for connectors that are opened before the gateway.
func (c *Callbacks) sample(ctx context.Context, from string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	if g := c.gateway.Load(); g != nil {
		return g.sample(ctx, from, p)
	}
	return nil, errors.New("no client is connected yet")
}

// sample passes on that a connector wants to use the client's model. The client asks its own
// user about that, and is told who wants it.
func (g *Gateway) sample(ctx context.Context, from string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	asked := *p
	asked.Meta = mcp.Meta{"assent/connector": from}
	answer, err := g.speak(ctx, from, connector.Sample, params{Messages: len(p.Messages)},
		func(ctx context.Context) (mcp.InputResponse, error) {
			return g.inquire(ctx, from, &asked, func(ctx context.Context, at *mcp.ServerSession) (mcp.InputResponse, error) {
				if p := at.InitializeParams(); p == nil || p.Capabilities == nil || p.Capabilities.Sampling == nil {
					return nil, errNoModel
				}
				return at.CreateMessage(ctx, &asked)
			})
		})
	if err != nil {
		return nil, err
	}
	switch r := answer.(type) {
	case *mcp.CreateMessageResult:
		return r, nil
	case *mcp.CreateMessageWithToolsResult:
		if len(r.Content) != 1 {
			return nil, fmt.Errorf("the client's model answered with %d parts; only one is supported", len(r.Content))
		}
		return &mcp.CreateMessageResult{Content: r.Content[0], Model: r.Model, Role: r.Role, StopReason: r.StopReason}, nil
	}
	return nil, fmt.Errorf("the client answered a request to its model with %T", answer)
}

var errNoModel = errors.New("the client has no sampling capability")

//lint:file-ignore SA1019 servers still write log messages, and clients still want them

// log passes a log message on, under the connector's name, to the clients that want it. It
// goes to the one whose call the connector works on, if that can be told.
func (g *Gateway) log(from string, said mcp.Params) {
	p, ok := said.(*mcp.LoggingMessageParams)
	if !ok {
		return // nothing that clients need to hear
	}
	if g.denied(g.ctx, g.opts.Gate.Session, from, connector.SetLevel, params{Level: p.Level}) {
		return
	}
	told := *p
	told.Logger = from
	if p.Logger != "" {
		told.Logger += ": " + p.Logger
	}
	if h := g.routes.of(from); h != nil && h.at != nil {
		if c, attended := h.current(); attended {
			_ = c.at.Log(c.ctx, &told) // a client that is gone misses it
		}
		return
	}
	for s := range g.server.Sessions() {
		_ = s.Log(g.ctx, &told)
	}
}

// levels are those of log messages, the chattiest first.
var levels = []mcp.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// A logLevel is how chatty connectors were told to be: as the chattiest client wants it. The
// others are not told what they do not want to hear.
type logLevel struct {
	mu    sync.Mutex
	level mcp.LoggingLevel
}

// lower reports whether a level is chattier than what was wanted before, and keeps it then.
func (w *logLevel) lower(level mcp.LoggingLevel) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	wanted := slices.Index(levels, level)
	if wanted < 0 || w.level != "" && slices.Index(levels, w.level) <= wanted {
		return false
	}
	w.level = level
	return true
}

// hearsLogLevel hears from which level on a client wants log messages.
func (g *Gateway) hearsLogLevel(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if p, ok := r.GetParams().(*mcp.SetLoggingLevelParams); ok && p != nil {
			g.setLogLevel(ctx, g.sessionOf(r.GetSession()), p.Level)
		}
		return next(ctx, method, r)
	}
}

// setLogLevel passes on from which level on a client wants to hear log messages.
func (g *Gateway) setLogLevel(ctx context.Context, session string, level mcp.LoggingLevel) {
	if !g.logLevel.lower(level) {
		return
	}
	for _, c := range g.opts.Connectors {
		if s, err := c.Session(); err == nil && has(s, func(c *mcp.ServerCapabilities) bool { return c.Logging != nil }) {
			// else it says less than it could
			_, _ = g.once(ctx, session, c.Name(), connector.SetLevel, params{Level: level})
		}
	}
}
