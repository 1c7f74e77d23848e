package prompttool

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/hook"
)

// Name is the tool's name; to Claude Code it is mcp__SERVER__permission.
const Name = "permission"

// heartbeat is how often a client that waits hears that we are alive.
const heartbeat = 5 * time.Second

// schema is what Claude Code sends. What it may add is let through, and not looked at.
const schema = `{"type":"object","required":["tool_name","input"],"properties":{` +
	`"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}}}`

// Options say for whom the tool answers.
type Options struct {
	// Hook says how a call is answered. Its agent and input are set here.
	Hook hook.Options
	// Session is the session of grants and audit, Dir the folder Claude Code works in.
	Session, Dir string
	// Version is what the server says about itself.
	Version string
}

// Serve answers on the two streams until the client has disconnected or ctx is done.
func Serve(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	return o.server().Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

func (o Options) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "assent", Version: o.Version}, nil)
	s.AddTool(&mcp.Tool{
		Name:        Name,
		Description: "Answers for a person whether a tool may run. It is called by the program itself, not by a model.",
		InputSchema: json.RawMessage(schema),
	}, o.answer)
	return s
}

// answer answers one call, with one block of text.
func (o Options) answer(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go beat(ctx, r)
	text := agents.PromptText(o.reply(ctx, r.Params.Arguments))
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

func (o Options) reply(ctx context.Context, arguments json.RawMessage) agents.Reply {
	event, err := agents.PromptEvent(o.Session, o.Dir, arguments)
	if err != nil {
		return agents.Blocked(err.Error())
	}
	h := o.Hook
	h.Agent, h.Input, h.Observe, h.Exits = agents.Prompt(), bytes.NewReader(event), false, false
	return hook.Run(ctx, h)
}

// beat tells a client that wants to know that somebody is still being asked.
func beat(ctx context.Context, r *mcp.CallToolRequest) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return
	}
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for n := 1.0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// A client that is gone ends the call by itself.
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: n, Message: "waiting for a person",
			})
		}
	}
}
