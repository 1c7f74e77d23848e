package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A session is one connection to the server, from its greeting to its end.
type session struct {
	*mcp.ClientSession
	process *process // nil for a server over HTTP
	cancel  context.CancelFunc
}

// handshake is the newest version of the protocol that begins with a greeting. It is tried
// first: what servers ask and announce is one exchange then. Servers that know only newer
// ones are spoken to as they like.
const handshake = "2025-11-25"

// stateless is the first version without a greeting; every call says who calls.
const stateless = "2026-07-28"

// dial connects to the server, in the older way or the newer.
func (c *Connector) dial(ctx context.Context) (*session, error) {
	s, err := c.dialAs(ctx, handshake)
	if err == nil || ctx.Err() != nil || !speaksOtherwise(err) {
		return s, err
	}
	return c.dialAs(ctx, "")
}

// speaksOtherwise reports whether a server understood us and wants another version.
func speaksOtherwise(err error) bool {
	var answered *jsonrpc.Error
	return err != nil && (errors.As(err, &answered) || strings.Contains(err.Error(), "unsupported protocol version"))
}

func (c *Connector) dialAs(ctx context.Context, version string) (*session, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &session{cancel: cancel}
	// The context lives as long as the connection; only the greeting is limited.
	late := time.AfterFunc(c.opts.ConnectTimeout, cancel)
	transport, err := c.transport(ctx, s)
	if err == nil {
		s.ClientSession, err = c.client().Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	}
	inTime := late.Stop()
	if err != nil || !inTime {
		return nil, c.notGreeted(s, err, inTime)
	}
	return s, nil
}

func (c *Connector) transport(ctx context.Context, s *session) (mcp.Transport, error) {
	if c.cfg.URL != "" {
		return c.remote(), nil
	}
	p, err := c.start(ctx)
	s.process = p
	return p, err
}

// notGreeted ends a connection that came to nothing, and says why.
func (c *Connector) notGreeted(s *session, err error, inTime bool) error {
	if s.process != nil {
		byItself := s.process.frames.over()
		_ = s.process.frames.Close()           // it came to nothing in any case
		if byItself && !speaksOtherwise(err) { // else it answered, and we ended it
			err = s.process.exit
		}
	}
	s.cancel()
	if !inTime {
		err = fmt.Errorf("it did not answer within %v", c.opts.ConnectTimeout)
	}
	return fmt.Errorf("%w%s", err, c.stderr.said())
}

// client is how we present ourselves. Nothing is offered that nobody here would answer.
func (c *Connector) client() *mcp.Client {
	heard := func(p mcp.Params) { c.opts.Heard(c.cfg.Name, p) }
	options := &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.lists.stale() },
		PromptListChangedHandler: func(_ context.Context, r *mcp.PromptListChangedRequest) {
			heard(r.Params)
		},
		ResourceListChangedHandler: func(_ context.Context, r *mcp.ResourceListChangedRequest) {
			heard(r.Params)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			heard(r.Params)
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			heard(r.Params)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.progress.tell(r.Params)
		},
	}
	if c.opts.Elicit != nil {
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
		options.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return c.opts.Elicit(ctx, c.cfg.Name, r.Params)
		}
	}
	c.offerModel(options)
	client := mcp.NewClient(identity, options)
	client.AddReceivingMiddleware(c.elicits)
	return client
}

// elicits passes on what a server wants to know as it came: the SDK refuses forms that it
// does not know itself, and it is for the client that shows them to say so.
func (c *Connector) elicits(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if p, ok := r.GetParams().(*mcp.ElicitParams); ok && p != nil && c.opts.Elicit != nil {
			return c.opts.Elicit(ctx, c.cfg.Name, p)
		}
		return next(ctx, method, r)
	}
}

// identity is who we say we are.
var identity = &mcp.Implementation{Name: "assent", Title: "assent", Version: "1"}

// wait waits for the end of the connection, and says why it ended.
func (s *session) wait() error {
	err := s.Wait()
	s.cancel()
	if s.process == nil {
		if err == nil {
			err = errors.New("the server ended the connection")
		}
		return err
	}
	s.process.frames.Close()
	<-s.process.over
	ended := s.process.frames.why()
	if ended != nil {
		return fmt.Errorf("%w (%w)", s.process.exit, ended)
	}
	return s.process.exit
}

// call calls a tool and returns its result as it came.
func (s *session) call(ctx context.Context, p callParams) (json.RawMessage, error) {
	if s.process != nil {
		params, err := p.encode(s.InitializeResult().ProtocolVersion >= stateless)
		if err != nil {
			return nil, err
		}
		return s.process.frames.Call(ctx, "tools/call", params)
	}
	params := &mcp.CallToolParams{Name: p.name, Arguments: p.arguments, Meta: p.meta()}
	result, err := s.CallTool(ctx, params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}
