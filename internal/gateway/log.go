package gateway

import "github.com/modelcontextprotocol/go-sdk/mcp"

//lint:file-ignore SA1019 servers still write log messages, and clients still want them

// log passes a log message on, under the connector's name, to the clients that want it.
func (g *Gateway) log(from string, params mcp.Params) {
	p, ok := params.(*mcp.LoggingMessageParams)
	if !ok {
		return // nothing that clients need to hear
	}
	said := *p
	said.Logger = from
	if p.Logger != "" {
		said.Logger += ": " + p.Logger
	}
	for s := range g.server.Sessions() {
		_ = s.Log(g.ctx, &said) // a client that is gone misses it
	}
}
