package mcptest

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Said is what several tools take.
type Said struct {
	Text string `json:"text" jsonschema:"what to say"`
}

// NewServer returns the ordinary server.
func NewServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "ordinary", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Says it again.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, echo)
	mcp.AddTool(s, &mcp.Tool{Name: "fail", Description: "Fails."}, fail)
	mcp.AddTool(s, &mcp.Tool{Name: "write", Description: "Writes a file.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true)}}, write)
	mcp.AddTool(s, &mcp.Tool{Name: "count", Description: "Counts to three and tells how far it is."}, count)
	mcp.AddTool(s, &mcp.Tool{Name: "wait", Description: "Waits until it is cancelled."}, wait)
	mcp.AddTool(s, &mcp.Tool{Name: "slow", Description: "Waits for a file."}, slow)
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Description: "Asks the person for a name."}, ask)
	mcp.AddTool(s, &mcp.Tool{Name: "environ", Description: "Says what is in its environment."}, environ)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "A greeting."}, greet)
	s.AddResource(&mcp.Resource{Name: "motto", URI: "test://motto", MIMEType: "text/plain"}, motto)
	return s
}

// Serve serves on the standard streams.
func Serve(ctx context.Context) error {
	return NewServer().Run(ctx, &mcp.StdioTransport{})
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func echo(_ context.Context, _ *mcp.CallToolRequest, in Said) (*mcp.CallToolResult, any, error) {
	return text("%s", in.Text), nil, nil
}

func fail(_ context.Context, _ *mcp.CallToolRequest, in Said) (*mcp.CallToolResult, any, error) {
	return nil, nil, fmt.Errorf("cannot: %s", in.Text)
}

// File is what write takes.
type File struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

func write(_ context.Context, _ *mcp.CallToolRequest, in File) (*mcp.CallToolResult, any, error) {
	return text("written"), nil, os.WriteFile(in.Path, []byte(in.Text), 0o600)
}

func count(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	for i := range 3 {
		p := &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1),
			Total: 3, Message: "counting"}
		if p.ProgressToken == nil {
			break
		}
		if err := r.Session.NotifyProgress(ctx, p); err != nil {
			return nil, nil, err
		}
	}
	return text("three"), nil, nil
}

// wait says that it began by making the file that it is given, and that it was cancelled
// by removing it.
func wait(ctx context.Context, _ *mcp.CallToolRequest, in File) (*mcp.CallToolResult, any, error) {
	if err := os.WriteFile(in.Path, nil, 0o600); err != nil {
		return nil, nil, err
	}
	<-ctx.Done()
	return nil, nil, os.Remove(in.Path)
}

// Files are what slow takes: the one that it makes, and the one that it waits for.
type Files struct {
	Begun string `json:"begun"`
	Go    string `json:"go"`
}

func slow(ctx context.Context, _ *mcp.CallToolRequest, in Files) (*mcp.CallToolResult, any, error) {
	if err := os.WriteFile(in.Begun, nil, 0o600); err != nil {
		return nil, nil, err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(in.Go); err == nil {
			return text("slow ran once"), nil, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// nameSchema is the form for a name.
var nameSchema = map[string]any{
	"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"},
}

func ask(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{
		Message:         "What is your name?",
		RequestedSchema: nameSchema,
	})
	if err != nil {
		return nil, nil, err
	}
	return text("%s %v", answer.Action, answer.Content["name"]), nil, nil
}

func environ(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return text("%q", os.Environ()), nil, nil
}

func greet(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user",
		Content: &mcp.TextContent{Text: "Hello."}}}}, nil
}

func motto(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "Ask first."}}}, nil
}
