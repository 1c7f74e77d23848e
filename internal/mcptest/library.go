package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 servers still ask for the client's model

// Seen is the variable that names the file in which [Library] notes, one a line, the requests
// that have reached it.
const Seen = "ASSENT_TEST_SEEN"

// newLibrary returns a server with prompts, resources, completion and subscriptions.
func newLibrary() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{
		Instructions: "Read the motto first.",
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"completed"}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.AddReceivingMiddleware(noted, linked)
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, greet)
	s.AddPrompt(&mcp.Prompt{Name: "letter", Arguments: []*mcp.PromptArgument{{Name: "to"}}}, greet)
	s.AddPrompt(&mcp.Prompt{Name: "curious"}, curious)
	s.AddResource(&mcp.Resource{Name: "motto", URI: "test://motto"}, motto)
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "page", URITemplate: "test://page/{+n}"}, motto)
	mcp.AddTool(s, &mcp.Tool{Name: "touch", Description: "Says that a resource changed."}, touch)
	mcp.AddTool(s, &mcp.Tool{Name: "think", Description: "Asks the client's model."}, think)
	return s
}

// touch says so whether anybody subscribed or not, which the SDK would not.
func touch(_ context.Context, _ *mcp.CallToolRequest, in Said) (*mcp.CallToolResult, any, error) {
	_, err := fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`+"\n", in.Text)
	return text("touched"), nil, err
}

func think(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{
		{Role: "user", Content: &mcp.TextContent{Text: "What is new?"}},
	}})
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{answer.Content}}, nil, nil
}

// noted notes what reaches the server.
func noted(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if file := os.Getenv(Seen); file != "" {
			params, err := json.Marshal(r.GetParams())
			if err != nil {
				return nil, err
			}
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return nil, err
			}
			fmt.Fprintln(f, method, string(params))
			if err := f.Close(); err != nil {
				return nil, err
			}
		}
		return next(ctx, method, r)
	}
}

// linked answers reads of what is neither listed nor a template.
func linked(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if p, ok := r.GetParams().(*mcp.ReadResourceParams); ok && strings.HasPrefix(p.URI, "test://linked") {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: p.URI, Text: "Linked."}}}, nil
		}
		return next(ctx, method, r)
	}
}

// curious asks the person before it gives its prompt.
func curious(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "What is your name?", RequestedSchema: nameSchema})
	if err != nil {
		return nil, err
	}
	return &mcp.GetPromptResult{Description: fmt.Sprint(answer.Action, " ", answer.Content["name"])}, nil
}
