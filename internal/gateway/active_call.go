package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// An activeCall is one that is under way, whoever waits for it.
type activeCall struct {
	g       *Gateway
	offer   *offer
	name    string // that clients know
	session string
	at      *mcp.ServerSession // the client whose call it is
	// connector is whose tool it is; empty for one of our own.
	connector string
	// method says that it is no call of a tool; fleeting that nobody comes back to it.
	method, fleeting bool
	key              policy.Digest
	batch            *approval.Batch
	ctx              context.Context // as long as the call is anybody's business
	end              context.CancelFunc

	// Guarded by the gateway's mu.
	caller   *caller           // who waits for it, or did last
	attended bool              // a caller waits for it
	over     bool              // it is nobody's business any more
	answered chan struct{}     // closed when nothing is pending
	finished chan struct{}     // closed when it has run; nil before it does
	cancel   func()            // cancels it while it runs
	result   reply             // set before finished is closed
	expiry   *time.Timer       // set while nobody attends to what could be claimed
	inputs   map[string]*input // what it needs to know from the client
	state    string            // under which the client answers; empty before it is told
	news     chan struct{}     // there is an input that the client was not told of
}

// begin reviews a call, and asks if it must be.
func (g *Gateway) begin(h *activeCall, c *caller, call policy.Call, name string, key policy.Digest) *activeCall {
	h.g, h.name, h.session, h.at, h.connector, h.key = g, name, call.Session, c.at, call.Connector, key
	h.attendedBy(c)
	h.ctx, h.end = context.WithCancel(context.WithValue(g.ctx, activeCallKey{}, h))
	h.batch = h.offer.gate.Review(h.ctx, call)
	g.mu.Lock()
	g.active[h.key] = append(g.active[h.key], h)
	g.mu.Unlock()
	h.ask()
	return h
}

// attach returns an earlier call that is the same and that nobody waits for. One that was
// told what it has to answer is waited for by its client's user: it is taken up with its
// state and in no other way.
func (g *Gateway) attach(c *caller, key policy.Digest) *activeCall {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.active[key] {
		if !h.attended && !h.over && c.state == h.state {
			h.attendedBy(c)
			h.receive(c)
			if h.expiry != nil {
				h.expiry.Stop()
				h.expiry = nil
			}
			return h
		}
	}
	return nil
}

// attendedBy says that a caller waits for the call. It wants the lock, unless nobody else
// knows of the call yet.
func (h *activeCall) attendedBy(c *caller) {
	h.caller, h.attended = c, true
	if c.rounds && h.news == nil {
		h.news = make(chan struct{}, 1)
	}
}

// ask has the gate ask what is pending. Nobody waits here.
func (h *activeCall) ask() {
	answered := make(chan struct{})
	h.g.mu.Lock()
	h.answered = answered
	h.g.mu.Unlock()
	if len(h.batch.Pending()) == 0 {
		close(answered)
		return
	}
	go func() {
		h.offer.gate.Ask(h.ctx, h.batch)
		close(answered)
		h.unclaimed()
	}()
}

// attend waits for the call on behalf of a caller, and returns what the caller is told.
func (h *activeCall) attend(c *caller) reply {
	for {
		if left, why := h.await(c); left {
			h.leave()
			return why
		}
		finished, cancel := h.run(c)
		select {
		case <-finished:
		case <-h.newsFor(c):
			if told, any := h.required(); any {
				h.leave()
				return told
			}
			continue // it was answered elsewhere
		case <-c.ctx.Done():
			cancel() // the client does not want it any more
			<-finished
		case <-c.gone:
			h.leave()
			return reply{}
		}
		cancel()
		switch {
		case h.again():
		case c.isGone():
			h.leave() // nobody takes the result
			return reply{}
		default:
			h.close()
			return h.result
		}
	}
}

// await waits until the call is answered, or until the caller is to be told something else.
func (h *activeCall) await(c *caller) (left bool, told reply) {
	h.g.mu.Lock()
	answered := h.answered
	h.g.mu.Unlock()
	select {
	case <-answered:
		return false, reply{}
	default:
	}
	patience := time.NewTimer(h.g.opts.Hold)
	defer patience.Stop()
	beat := time.NewTicker(h.g.opts.Beat)
	defer beat.Stop()
	for beats := 1; ; beats++ {
		select {
		case <-answered:
			return false, reply{}
		case <-c.ctx.Done():
			return true, reply{}
		case <-c.gone:
			return true, reply{}
		case <-h.newsFor(c):
			if told, any := h.required(); any {
				return true, told
			}
		case <-patience.C:
			return true, h.pending()
		case <-beat.C:
			c.alive(beats, "waiting for a person's answer")
		}
	}
}

// newsFor says that there is something to tell a client within the result of the call.
func (h *activeCall) newsFor(c *caller) <-chan struct{} {
	if c.rounds {
		return h.news
	}
	return nil
}

// current returns who waits for the call, or did last, and whether it still does.
func (h *activeCall) current() (c *caller, attended bool) {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	return h.caller, h.attended
}

// run runs what was answered, unless it runs or has run already. The caller may cancel it.
// Where the end of the caller ends all, it is run right here, which is faster.
func (h *activeCall) run(c *caller) (finished <-chan struct{}, cancel context.CancelFunc) {
	h.g.mu.Lock()
	if h.finished != nil {
		defer h.g.mu.Unlock()
		return h.finished, h.cancel
	}
	ctx, cancel := context.WithCancel(h.ctx)
	done := make(chan struct{})
	h.finished, h.cancel = done, cancel
	h.g.mu.Unlock()
	leave := h.g.routes.enter(h.connector, h)
	work := func() { h.work(h.passing(ctx, c), done, leave) }
	if c.gone == nil && !c.rounds {
		stop := context.AfterFunc(c.ctx, cancel)
		work()
		stop()
	} else {
		go work()
	}
	return done, cancel
}

// passing is what travels with the call through the gate. How far it is, is told to whoever
// waits for it then.
func (h *activeCall) passing(ctx context.Context, c *caller) context.Context {
	p := connector.Passing{Meta: c.meta}
	if c.progress != nil {
		p.Progress = func(far *mcp.ProgressNotificationParams) {
			if now, attended := h.current(); attended && now.progress != nil {
				now.progress(far)
			}
		}
	}
	return connector.WithPassing(ctx, p)
}

// work runs the call, or finds that it must be asked again.
func (h *activeCall) work(ctx context.Context, done chan struct{}, leave func()) {
	results, err := tool.Finish(ctx, h.offer.gate, h.batch)
	leave()
	h.g.mu.Lock()
	if errors.Is(err, approval.ErrOpen) {
		h.finished = nil
	} else {
		h.result = h.replyOf(results, err)
	}
	h.g.mu.Unlock()
	close(done)
	h.unclaimed()
}

// again asks again if the call was judged anew instead of being run.
func (h *activeCall) again() bool {
	h.g.mu.Lock()
	must := h.finished == nil
	h.g.mu.Unlock()
	if must {
		h.ask()
	}
	return must
}

// leave says that nobody waits for the call any more.
func (h *activeCall) leave() {
	h.g.mu.Lock()
	h.attended = false
	h.g.mu.Unlock()
	if h.fleeting {
		h.expire()
		return
	}
	h.unclaimed()
}

// unclaimed starts the time in which an approved call must be claimed, a result taken, or
// what the call needs to know be answered, if nobody is there to do it.
func (h *activeCall) unclaimed() {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	if h.attended || h.over || h.expiry != nil || h.state == "" && !h.ready() {
		return
	}
	h.expiry = time.AfterFunc(h.g.opts.Keep, h.expire)
}

// ready reports whether there is something to claim. It wants the lock.
func (h *activeCall) ready() bool {
	select {
	case <-h.answered:
	default:
		return false
	}
	if h.finished == nil {
		return true
	}
	select {
	case <-h.finished:
		return true
	default:
		return false
	}
}

// expire ends a call that nobody claimed.
func (h *activeCall) expire() {
	h.g.mu.Lock()
	if h.attended || h.over {
		h.g.mu.Unlock()
		return
	}
	h.attended = true // from here on nobody can claim it, and have it ended under their hands
	ran := h.finished != nil
	h.g.mu.Unlock()
	if !ran && h.batch.Outcome(0).Runs() {
		stopped, stop := context.WithCancelCause(context.WithoutCancel(h.ctx))
		stop(fmt.Errorf("the client did not ask for the result within %v", h.g.opts.Keep))
		// With a context that is done an approved call ends as cancelled, and never runs.
		if _, err := h.batch.Start(stopped, 0, approval.Proposal{}); err == nil {
			panic("a call started with a context that is done")
		}
	}
	h.close()
}

// close forgets the call.
func (h *activeCall) close() {
	h.g.mu.Lock()
	if h.over {
		h.g.mu.Unlock()
		return
	}
	h.over = true
	if h.expiry != nil {
		h.expiry.Stop()
	}
	rest := slices.DeleteFunc(h.g.active[h.key], func(o *activeCall) bool { return o == h })
	if len(rest) == 0 {
		delete(h.g.active, h.key)
	} else {
		h.g.active[h.key] = rest
	}
	h.g.mu.Unlock()
	h.end()
	h.offer.users.Done()
}

// routes know on which calls each connector works at the moment, so that what it asks or
// says on the way reaches who made the call, and on the stream of that call.
type routes struct {
	mu sync.Mutex
	by map[string][]*activeCall // by connector
}

// enter notes that a connector works on a call; leave when it has ended.
func (r *routes) enter(connector string, h *activeCall) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string][]*activeCall{}
	}
	r.by[connector] = append(r.by[connector], h)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		all := r.by[connector]
		for i := range all {
			if all[i] == h {
				all[i] = all[len(all)-1]
				r.by[connector] = all[:len(all)-1]
				return
			}
		}
	}
}

// of returns a call that the connector works on; nil if there is none, or if they are of
// several clients, of which it does not say which it means.
func (r *routes) of(connector string) *activeCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.by[connector]
	if len(all) == 0 {
		return nil
	}
	for _, h := range all {
		if h.at != all[0].at {
			return nil
		}
	}
	return all[0]
}

// named returns the origin of a call with the name that its client goes by.
func named(ctx context.Context, o approval.Origin) approval.Origin {
	h, _ := ctx.Value(activeCallKey{}).(*activeCall)
	if h == nil || h.at == nil {
		return o
	}
	if p := h.at.InitializeParams(); p != nil && p.ClientInfo != nil && p.ClientInfo.Name != "" {
		o.Agent = p.ClientInfo.Name
	}
	return o
}
