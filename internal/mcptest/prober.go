package mcptest

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An Attempt is what the prober is told to try: write, read or connect, and where.
type Attempt struct {
	What  string `json:"what"`
	Where string `json:"where"`
}

// newProber returns a server that finds out what its process can reach.
func newProber() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "prober", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "try", Description: "Tries something."}, try)
	return s
}

func try(_ context.Context, _ *mcp.CallToolRequest, in Attempt) (*mcp.CallToolResult, any, error) {
	switch in.What {
	case "write":
		return text("managed to write"), nil, os.WriteFile(in.Where, []byte("by a server\n"), 0o600)
	case "read":
		data, err := os.ReadFile(in.Where)
		return text("managed to read %s", data), nil, err
	case "connect":
		c, err := net.Dial("tcp", in.Where)
		if err != nil {
			return nil, nil, err
		}
		return text("managed to connect"), nil, c.Close()
	}
	return nil, nil, fmt.Errorf("no attempt %q", in.What)
}
