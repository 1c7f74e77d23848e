package mcptest

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newNewest returns a server that knows no greeting: every request says who sends it, and
// what the server wants to know stands in the result of a call.
func newNewest() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "newest", Version: "1"}, nil)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "initialize" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no such method"}
			}
			return next(ctx, method, r)
		}
	})
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Says it again."}, echo)
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Description: "Asks the person for a name."}, askInRounds)
	return s
}

func askInRounds(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, ok := r.Params.InputResponses["name"].(*mcp.ElicitResult)
	if !ok || r.Params.RequestState != "asked" {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{
			Message:         "What is your name?",
			RequestedSchema: nameSchema,
		}}, RequestState: "asked"}, nil, nil
	}
	return text("%s %v", answer.Action, answer.Content["name"]), nil, nil
}
