package gateway

import (
	"context"
	"fmt"
	"sync"

	"github.com/assent-dev/assent/tool/connector"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// subscriptions are the resources of which a connector was asked to tell when they change.
type subscriptions struct {
	mu sync.Mutex
	by map[string]*connector.Connector // by URI
}

func (s *subscriptions) add(uri string, c *connector.Connector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]*connector.Connector{}
	}
	s.by[uri] = c
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, uri)
}

// to returns who was asked; nil if nobody was.
func (s *subscriptions) to(uri string) *connector.Connector {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[uri]
}

// subscribe has the connector that lists a resource tell when it changes, or the only one
// that can. Which clients want to hear of it the SDK knows.
func (g *Gateway) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	c := g.others.owner(resources, r.Params.URI)
	if c == nil {
		c = g.only(subscribes)
	}
	if c == nil {
		return fmt.Errorf("no connector lists the resource %s", r.Params.URI)
	}
	if answer := g.pass(callerOf(g, ctx, r), c, connector.Subscribe, params{URI: r.Params.URI}); answer.err != nil {
		return answer.err
	}
	g.subscribed.add(r.Params.URI, c)
	return nil
}

// unsubscribe undoes that for the connector if nobody else can want it. What was not
// subscribed to is no connector's business.
func (g *Gateway) unsubscribe(ctx context.Context, r *mcp.UnsubscribeRequest) error {
	c := g.subscribed.to(r.Params.URI)
	if c == nil {
		return nil
	}
	for s := range g.server.Sessions() {
		if s != r.Session {
			return nil // another client may still listen; one message too many does no harm
		}
	}
	g.subscribed.remove(r.Params.URI)
	// The client need not wait for it: it may be gone.
	_, err := g.once(context.WithoutCancel(ctx), g.sessionOf(r.Session), c.Name(), connector.Unsubscribe, params{URI: r.Params.URI})
	return err
}

// subscribes reports whether a server tells when a resource changes.
func subscribes(c *mcp.ServerCapabilities) bool { return c.Resources != nil && c.Resources.Subscribe }
