package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/tool/connector"
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
func (g *Gateway) sample(ctx context.Context, from string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	asked := *p
	asked.Meta = mcp.Meta{"assent/connector": from}
	answer, err := g.speak(ctx, from, connector.Sample, params{Messages: len(p.Messages)}, func(ctx context.Context) (mcp.InputResponse, error) {
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
			return nil, fmt.Errorf("the client's model answered with %d parts; one is taken", len(r.Content))
		}
		return &mcp.CreateMessageResult{Content: r.Content[0], Model: r.Model, Role: r.Role, StopReason: r.StopReason}, nil
	}
	return nil, fmt.Errorf("the client answered a request to its model with %T", answer)
}

var errNoModel = errors.New("the client offers no model")
