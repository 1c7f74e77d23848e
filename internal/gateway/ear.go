package gateway

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/assent-dev/assent/tool/connector"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An Ear lets connectors speak to a gateway that is made after them. What they say before
// is not lost: a gateway looks for itself when it is made. The zero Ear is ready.
type Ear struct{ gateway atomic.Pointer[Gateway] }

// Listen returns the options of a connector that speaks to the gateway.
func (e *Ear) Listen(opts connector.Options) connector.Options {
	opts.Report = func(event connector.Event) {
		if g := e.gateway.Load(); g != nil {
			g.happened(event)
		}
	}
	opts.Heard = func(from string, p mcp.Params) {
		if g := e.gateway.Load(); g != nil {
			g.heard(from, p)
		}
	}
	opts.Elicit = func(ctx context.Context, from string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		if g := e.gateway.Load(); g != nil {
			return g.elicit(ctx, from, p)
		}
		return nil, errors.New("no client is there yet")
	}
	opts.Sample = e.sample
	return opts
}
