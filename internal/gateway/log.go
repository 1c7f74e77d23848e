package gateway

import (
	"context"
	"slices"
	"sync"

	"github.com/assent-dev/assent/tool/connector"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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

// A wish is how chatty connectors were told to be: as the chattiest client wants it. The
// others are not told what they do not want to hear.
type wish struct {
	mu    sync.Mutex
	level mcp.LoggingLevel
}

// lower reports whether a level is chattier than what was wished before, and keeps it then.
func (w *wish) lower(level mcp.LoggingLevel) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	wanted := slices.Index(levels, level)
	if wanted < 0 || w.level != "" && slices.Index(levels, w.level) <= wanted {
		return false
	}
	w.level = level
	return true
}

// wishes hears from which level on a client wants log messages.
func (g *Gateway) wishes(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if p, ok := r.GetParams().(*mcp.SetLoggingLevelParams); ok && p != nil {
			g.logging(ctx, g.sessionOf(r.GetSession()), p.Level)
		}
		return next(ctx, method, r)
	}
}

// logging passes on from which level on a client wants to hear log messages.
func (g *Gateway) logging(ctx context.Context, session string, level mcp.LoggingLevel) {
	if !g.wish.lower(level) {
		return
	}
	for _, c := range g.opts.Connectors {
		if s, err := c.Session(); err == nil && has(s, func(c *mcp.ServerCapabilities) bool { return c.Logging != nil }) {
			_, _ = g.once(ctx, session, c.Name(), connector.SetLevel, params{Level: level}) // else it says less than it could
		}
	}
}
