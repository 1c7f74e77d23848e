package gateway

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 servers still ask for the client's model, and clients still offer it

// sample is for connectors that are opened before the gateway.
func (e *Ear) sample(ctx context.Context, from string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	if g := e.gateway.Load(); g != nil {
		return g.sample(ctx, from, p)
	}
	return nil, errors.New("no client is there yet")
}

// sample passes on that a connector wants to use the client's model. The client asks its own
// user about that, and is told who wants it.
func (g *Gateway) sample(ctx context.Context, connector string, params *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	ctx, at, done, err := g.askable(ctx, connector)
	if err != nil {
		return nil, err
	}
	defer done()
	if p := at.InitializeParams(); p == nil || p.Capabilities == nil || p.Capabilities.Sampling == nil {
		return nil, errors.New("the client offers no model")
	}
	asked := *params
	asked.Meta = mcp.Meta{"assent/connector": connector}
	return at.CreateMessage(ctx, &asked)
}
