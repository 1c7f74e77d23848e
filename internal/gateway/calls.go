package gateway

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A caller is a client that waits for a call.
type caller struct {
	// ctx is done when the client does not want the call any more.
	ctx context.Context
	// gone is closed when the client cannot be answered any more; nil if that ends all.
	gone <-chan struct{}
	// at is the client, and session what its session is called.
	at      *mcp.ServerSession
	session string
	// meta is what the client says about the call.
	meta map[string]any
	// progress tells the client how far the call is; nil if it does not want to know.
	progress func(*mcp.ProgressNotificationParams)
	// rounds says that what is to be asked of the client stands in the result of the call. Then
	// caps is what it can be asked; responses are its answers, to the call of this state.
	rounds    bool
	caps      *mcp.ClientCapabilities
	responses mcp.InputResponseMap
	state     string
}

// alive tells the client that somebody still thinks.
func (c *caller) alive(beats int, text string) {
	if c.progress != nil {
		c.progress(&mcp.ProgressNotificationParams{Progress: float64(beats), Message: text})
	}
}

// isGone reports whether the client cannot be answered any more.
func (c *caller) isGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// A reply is what a call comes to: a result as the protocol has it, an error, or what the
// client has to answer first.
type reply struct {
	raw    json.RawMessage
	err    *jsonrpc.Error
	inputs mcp.InputRequestMap
	state  string
}

// call takes a call through the gate and returns what it comes to.
func (g *Gateway) call(c *caller, name string, args json.RawMessage) reply {
	o := g.take()
	if o == nil {
		return refused(jsonrpc.CodeInternalError, errors.New("the gateway is closed"))
	}
	t, ok := o.tools[name]
	if !ok {
		o.users.Done()
		return refused(jsonrpc.CodeInvalidParams, fmt.Errorf("unknown tool %q", name))
	}
	canonical, err := approval.CanonicalArguments(args)
	if err != nil {
		o.users.Done()
		return refused(jsonrpc.CodeInvalidParams, err)
	}
	spec := t.Spec()
	call := approval.Call{Connector: spec.Connector, Tool: spec.Name, Arguments: canonical, Session: c.session, Definition: g.shownAs(c.session, name)}
	key := keyOf(call)
	h := g.attach(c, key)
	if h != nil {
		o.users.Done() // it has its own
	} else {
		h = g.begin(o, c, call, name, key)
	}
	return h.attend(c)
}

// shownAs is the definition that the session's model was shown last; zero if none was.
func (g *Gateway) shownAs(session, name string) approval.Digest {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shown[session][name]
}

// keyOf tells calls apart: the session, the tool, and every argument. What the model was
// shown does not matter for whose call it is.
func keyOf(call approval.Call) approval.Digest {
	key := make([]byte, 0, 128+len(call.Arguments))
	for _, text := range []string{call.Session, call.Connector, call.Tool} {
		key = append(binary.BigEndian.AppendUint64(key, uint64(len(text))), text...)
	}
	return approval.DigestOf(append(key, call.Arguments...))
}

func refused(code int64, err error) reply {
	return reply{err: &jsonrpc.Error{Code: code, Message: err.Error()}}
}

// handle is a call that comes by way of the SDK.
func (g *Gateway) handle(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := &caller{
		ctx: ctx, at: r.Session, session: g.sessionOf(r.Session), meta: r.Params.Meta, gone: g.goneOf(r),
		rounds: r.ProtocolVersion() >= inRounds, caps: r.ClientCapabilities(), responses: r.Params.InputResponses, state: r.Params.RequestState,
	}
	if token := r.Params.GetProgressToken(); token != nil {
		c.progress = func(p *mcp.ProgressNotificationParams) {
			told := *p
			told.ProgressToken = token
			_ = r.Session.NotifyProgress(ctx, &told) // a client that is gone is noticed elsewhere
		}
	}
	answer := g.call(c, r.Params.Name, r.Params.Arguments)
	if answer.err != nil {
		return nil, answer.err
	}
	if answer.inputs != nil {
		return &mcp.CallToolResult{InputRequests: answer.inputs, RequestState: answer.state}, nil
	}
	var result mcp.CallToolResult
	if err := json.Unmarshal(answer.raw, &result); err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	return &result, nil
}
