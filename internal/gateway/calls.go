package gateway

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
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

// call takes a call through the gate and returns what it comes to.
func (g *Gateway) call(c *caller, name string, args json.RawMessage) reply {
	o := g.take()
	if o == nil {
		return refused(jsonrpc.CodeInternalError, errClosed)
	}
	t, ok := o.tools[name]
	if !ok {
		o.users.Done()
		return refused(jsonrpc.CodeInvalidParams, fmt.Errorf("unknown tool %q", name))
	}
	text, err := canonical.Arguments(args)
	if err != nil {
		o.users.Done()
		return refused(jsonrpc.CodeInvalidParams, err)
	}
	spec := t.Spec()
	call := policy.Call{Connector: spec.Connector, Tool: spec.Name, Arguments: text, Session: c.session,
		Definition: g.shownAs(c.session, name)}
	return g.through(c, &activeCall{offer: o}, call, name)
}

// through takes a call through the gate, or takes up an earlier one that is the same. As is
// what it is held as.
func (g *Gateway) through(c *caller, as *activeCall, call policy.Call, name string) reply {
	key := keyOf(call)
	h := g.attach(c, key)
	if h != nil {
		as.offer.users.Done() // it has its own
	} else {
		h = g.begin(as, c, call, name, key)
	}
	return h.attend(c)
}

// shownAs is the definition that the session's model was shown last; zero if none was.
func (g *Gateway) shownAs(session, name string) policy.Digest {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shown[session][name]
}

// keyOf tells calls apart: the session, the tool, and every argument. What the model was
// shown does not matter for whose call it is.
func keyOf(call policy.Call) policy.Digest {
	key := make([]byte, 0, 128+len(call.Arguments))
	for _, text := range []string{call.Session, call.Connector, call.Tool} {
		key = append(binary.BigEndian.AppendUint64(key, uint64(len(text))), text...)
	}
	return policy.DigestOf(append(key, call.Arguments...))
}

// callerOf is the client of a request that comes by way of the SDK.
func callerOf[P mcp.Params](g *Gateway, ctx context.Context, r *mcp.ServerRequest[P]) *caller {
	c := &caller{ctx: ctx, at: r.Session, session: g.sessionOf(r.Session), meta: r.Params.GetMeta(),
		gone: g.goneOf(r.Extra), caps: r.ClientCapabilities()}
	if token := c.meta["progressToken"]; token != nil {
		c.progress = func(p *mcp.ProgressNotificationParams) {
			told := *p
			told.ProgressToken = token
			_ = r.Session.NotifyProgress(ctx, &told) // a client that is gone is noticed elsewhere
		}
	}
	return c
}

// inRounds says that the client may be told what it has to answer in the result, if its
// version of the protocol has that, and what it answers to an earlier one.
func (c *caller) inRounds(version string, responses mcp.InputResponseMap, state string) {
	c.rounds, c.responses, c.state = version >= inRounds, responses, state
}

// handle is a call that comes by way of the SDK.
func (g *Gateway) handle(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := callerOf(g, ctx, r)
	c.inRounds(r.ProtocolVersion(), r.Params.InputResponses, r.Params.RequestState)
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

// valueOf is what a method comes to.
func valueOf[R mcp.Result](answer reply) (R, error) {
	var none R
	if answer.err != nil {
		return none, answer.err
	}
	result, ok := answer.value.(R)
	if !ok {
		return none, fmt.Errorf("the result is %T", answer.value)
	}
	return result, nil
}
