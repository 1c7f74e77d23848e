package connector

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 servers still use what newer versions of the protocol leave out

// A Sampler asks the agent's own model for a server.
type Sampler func(ctx context.Context, connector string, params *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)

// offerModel lets the server ask for the agent's own model, if there is one.
func (c *Connector) offerModel(options *mcp.ClientOptions) {
	if c.opts.Sample == nil {
		return
	}
	options.Capabilities.Sampling = &mcp.SamplingCapabilities{}
	type result = mcp.CreateMessageResult
	options.CreateMessageHandler = func(ctx context.Context, r *mcp.CreateMessageRequest) (*result, error) {
		return c.opts.Sample(ctx, c.cfg.Name, r.Params)
	}
}

// hearLog takes a log message, so that it is heard before the result of the call that it is
// part of.
func (c *Connector) hearLog(r *jsonrpc.Request) bool {
	if r.Method != "notifications/message" {
		return false
	}
	var p mcp.LoggingMessageParams
	if json.Unmarshal(r.Params, &p) == nil {
		c.opts.Heard(c.cfg.Name, &p)
	}
	return true
}
