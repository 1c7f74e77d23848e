package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/tool/connector"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// subscribe has the connector that has a resource tell when it changes. Which clients want
// to hear of it the SDK knows.
func (g *Gateway) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	return g.aboutResource(r.Params.URI, func(s *mcp.ClientSession) error {
		return s.Subscribe(ctx, &mcp.SubscribeParams{URI: r.Params.URI})
	})
}

// unsubscribe undoes that for the connector if nobody else can want it.
func (g *Gateway) unsubscribe(ctx context.Context, r *mcp.UnsubscribeRequest) error {
	for s := range g.server.Sessions() {
		if s != r.Session {
			return nil // another client may still listen; one message too many does no harm
		}
	}
	return g.aboutResource(r.Params.URI, func(s *mcp.ClientSession) error {
		return s.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: r.Params.URI})
	})
}

// aboutResource tells the connectors that may have a resource, those that list it first,
// until one takes it.
func (g *Gateway) aboutResource(uri string, tell func(*mcp.ClientSession) error) error {
	all := slices.Clone(g.opts.Connectors)
	slices.SortStableFunc(all, func(a, b *connector.Connector) int {
		return btoi(g.others.has("resources", b, uri)) - btoi(g.others.has("resources", a, uri))
	})
	errs := []error{fmt.Errorf("nobody has the resource %s", uri)}
	for _, c := range all {
		s, err := c.Session()
		if err == nil && subscribes(s) {
			err = tell(s)
			if err == nil {
				return nil
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// subscribes reports whether a server tells when a resource changes.
func subscribes(s *mcp.ClientSession) bool {
	return has(s, func(c *mcp.ServerCapabilities) bool { return c.Resources != nil && c.Resources.Subscribe })
}
