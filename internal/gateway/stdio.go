package gateway

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"

	"github.com/assent-dev/assent/tool/connector"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is how many bytes a message of a client may have.
const maxMessage = 64 << 20

// Serve serves one client on two streams until it is gone or ctx is done. End ends the
// streams, so that reading from them returns.
func (g *Gateway) Serve(ctx context.Context, in io.Reader, out io.Writer, end func() error) error {
	bad := func(why error) { g.opts.Report("the client: " + why.Error()) }
	l := &line{g: g, frames: connector.NewFrames(in, out, maxMessage, bad, end), hands: newHands(), calls: map[string]context.CancelFunc{}}
	l.frames.Hear, l.frames.HearCall = l.hear, l.take
	s, err := g.server.Connect(ctx, l, nil)
	if err != nil {
		return err
	}
	l.client.Store(s)
	leave := g.enter(g.opts.Gate.Session, s)
	defer leave()
	stop := context.AfterFunc(ctx, func() { _ = l.frames.Close() })
	defer stop()
	over := make(chan error, 1)
	go func() { over <- s.Wait() }()
	select {
	case err = <-over:
	case <-ctx.Done(): // a stream that cannot be interrupted may still be read
		err = context.Cause(ctx)
	}
	l.drop()
	return err
}

// A line is a client on two streams. Its calls do not go through the SDK, so that they keep
// their bytes.
type line struct {
	g      *Gateway
	frames *connector.Frames
	client atomic.Pointer[mcp.ServerSession]

	hands *hands

	mu      sync.Mutex
	greeted bool
	calls   map[string]context.CancelFunc // by id
}

// Connect implements [mcp.Transport].
func (l *line) Connect(context.Context) (mcp.Connection, error) { return l.frames, nil }

// hear takes what is about calls. Everything else is the SDK's.
func (l *line) hear(r *jsonrpc.Request) bool {
	switch r.Method {
	case "notifications/initialized":
		l.mu.Lock()
		l.greeted = true
		l.mu.Unlock()
	case "notifications/cancelled":
		return l.cancel(r)
	}
	return false
}

// take begins a call. The SDK's are calls before the greeting, and those of the newer
// protocol, which say with each call who calls.
func (l *line) take(call connector.ToolCall) bool {
	if call.Meta[mcp.MetaKeyProtocolVersion] != nil {
		return false
	}
	id := string(call.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.greeted || l.calls[id] != nil {
		return false
	}
	ctx, cancel := context.WithCancel(l.g.ctx)
	l.calls[id] = cancel
	l.hands.do(func() { l.serve(ctx, call) })
	return true
}

// serve makes the call and answers it.
func (l *line) serve(ctx context.Context, call connector.ToolCall) {
	id := call.ID
	c := &caller{ctx: ctx, at: l.client.Load(), session: l.g.opts.Gate.Session, meta: call.Meta}
	if token := call.Meta["progressToken"]; token != nil {
		c.progress = func(progress *mcp.ProgressNotificationParams) { l.progress(token, progress) }
	}
	answer := l.g.call(c, call.Name, call.Arguments)
	cancelled := ctx.Err() != nil
	l.forget(id)
	if cancelled {
		return // nobody waits for an answer
	}
	if answer.err == nil {
		frame := make([]byte, 0, len(answer.raw)+len(id)+40)
		frame = append(append(append(frame, `{"jsonrpc":"2.0","id":`...), id...), `,"result":`...)
		frame = append(append(frame, answer.raw...), '}')
		_ = l.frames.WriteLine(frame) // a client that is gone is noticed by who reads
		return
	}
	data, err := json.Marshal(answer.err)
	if err != nil {
		data = []byte(`{"code":-32603,"message":"the error cannot be written"}`)
	}
	_ = l.frames.WriteLine([]byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":` + string(data) + `}`))
}

func (l *line) progress(token any, p *mcp.ProgressNotificationParams) {
	told := *p
	told.ProgressToken = token
	data, err := json.Marshal(&told)
	if err != nil {
		return // a sign of life that cannot be given
	}
	_ = l.frames.WriteLine([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":` + string(data) + `}`))
}

// cancel cancels a call of ours.
func (l *line) cancel(r *jsonrpc.Request) bool {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(r.Params, &p) != nil {
		return false
	}
	l.mu.Lock()
	cancel := l.calls[string(p.ID)]
	l.mu.Unlock()
	if cancel == nil {
		return false
	}
	cancel()
	return true
}

func (l *line) forget(id json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.calls[string(id)]; cancel != nil {
		cancel()
		delete(l.calls, string(id))
	}
}

// drop ends the calls of a client that is gone, and waits for them.
func (l *line) drop() {
	l.mu.Lock()
	for _, cancel := range l.calls {
		cancel()
	}
	l.mu.Unlock()
	l.hands.close()
}
