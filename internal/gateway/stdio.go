package gateway

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/tool/connector"
)

// maxMessage is how many bytes a message of a client may have.
const maxMessage = 64 << 20

// Serve serves one client on two streams until it is gone or ctx is done. End ends the
// streams, so that reading from them returns.
func (g *Gateway) Serve(ctx context.Context, in io.Reader, out io.Writer, end func() error) error {
	bad := func(why error) { g.opts.Report("the client: " + why.Error()) }
	l := &stdioClient{g: g, frames: connector.NewFrames(in, out, maxMessage, bad, end), pool: newGoroutinePool(),
		calls: map[string]context.CancelFunc{}}
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

// A stdioClient is one on two streams. Its calls do not go through the SDK, so that they keep
// their bytes.
type stdioClient struct {
	g      *Gateway
	frames *connector.Frames
	client atomic.Pointer[mcp.ServerSession]

	pool *goroutinePool

	mu      sync.Mutex
	greeted bool
	calls   map[string]context.CancelFunc // by id
}

// Connect implements [mcp.Transport].
func (l *stdioClient) Connect(context.Context) (mcp.Connection, error) { return l.frames, nil }

// hear takes what is about calls. Everything else is the SDK's.
func (l *stdioClient) hear(r *jsonrpc.Request) bool {
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
func (l *stdioClient) take(call connector.ToolCall) bool {
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
	l.pool.do(func() { l.serve(ctx, call) })
	return true
}

// serve makes the call and answers it.
func (l *stdioClient) serve(ctx context.Context, call connector.ToolCall) {
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

func (l *stdioClient) progress(token any, p *mcp.ProgressNotificationParams) {
	told := *p
	told.ProgressToken = token
	data, err := json.Marshal(&told)
	if err != nil {
		return // a sign of life that cannot be given
	}
	_ = l.frames.WriteLine([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":` + string(data) + `}`))
}

// cancel cancels a call of ours.
func (l *stdioClient) cancel(r *jsonrpc.Request) bool {
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

func (l *stdioClient) forget(id json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.calls[string(id)]; cancel != nil {
		cancel()
		delete(l.calls, string(id))
	}
}

// drop ends the calls of a client that is gone, and waits for them.
func (l *stdioClient) drop() {
	l.mu.Lock()
	for _, cancel := range l.calls {
		cancel()
	}
	l.mu.Unlock()
	l.pool.close()
}

// maxIdle is how many goroutines are kept for the next call.
const maxIdle = 16

// A goroutinePool takes calls. Goroutines that have nothing to do are kept: the stack of
// a goroutine grows while it takes its first call, which costs a good part of the call.
type goroutinePool struct {
	work chan func() // only somebody idle takes from it

	mu     sync.Mutex
	idle   int
	closed bool
	busy   sync.WaitGroup
}

func newGoroutinePool() *goroutinePool { return &goroutinePool{work: make(chan func(), maxIdle)} }

// do has f done, and does not wait for it. After close it is not done.
func (h *goroutinePool) do(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.busy.Add(1)
	if h.idle == 0 {
		go h.serve(f)
		return
	}
	h.idle--
	h.work <- f // there is room: it holds as many as may be idle
}

func (h *goroutinePool) serve(f func()) {
	for f != nil {
		f()
		h.busy.Done()
		f = h.next()
	}
}

// next returns what is to be done next; nil if nothing will be, or if enough others wait
// for it.
func (h *goroutinePool) next() func() {
	h.mu.Lock()
	if h.closed || h.idle == maxIdle {
		h.mu.Unlock()
		return nil
	}
	h.idle++
	h.mu.Unlock()
	return <-h.work
}

// close waits until all is done, and lets go of the goroutines.
func (h *goroutinePool) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.busy.Wait()
	close(h.work)
}
