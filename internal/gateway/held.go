package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// A held call is one that is under way, whoever waits for it.
type held struct {
	g       *Gateway
	offer   *offer
	name    string // that clients know
	session string
	// connector is whose tool it is; empty for one of our own.
	connector string
	key       approval.Digest
	batch     *approval.Batch
	ctx       context.Context // as long as the call is anybody's business
	end       context.CancelFunc

	// Guarded by the gateway's mu.
	attended bool          // a caller waits for it
	over     bool          // it is nobody's business any more
	answered chan struct{} // closed when nothing is pending
	finished chan struct{} // closed when it has run; nil before it does
	result   reply         // set before finished is closed
	expiry   *time.Timer   // set while nobody attends to what could be claimed
}

// begin reviews a call, and asks if it must be.
func (g *Gateway) begin(o *offer, call approval.Call, name string, key approval.Digest) *held {
	h := &held{g: g, offer: o, name: name, session: call.Session, connector: call.Connector, key: key, attended: true}
	h.ctx, h.end = context.WithCancel(g.ctx)
	h.batch = o.gate.Review(h.ctx, call)
	g.mu.Lock()
	g.held[h.key] = append(g.held[h.key], h)
	g.mu.Unlock()
	h.ask()
	return h
}

// attach returns an earlier call that is the same and that nobody waits for.
func (g *Gateway) attach(key approval.Digest) *held {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.held[key] {
		if !h.attended && !h.over {
			h.attended = true
			if h.expiry != nil {
				h.expiry.Stop()
				h.expiry = nil
			}
			return h
		}
	}
	return nil
}

// ask has the gate ask what is pending. Nobody waits here.
func (h *held) ask() {
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
func (h *held) attend(c caller) reply {
	for {
		if left, why := h.await(c); left {
			h.leave()
			return why
		}
		finished, cancel := h.run(c)
		select {
		case <-finished:
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
func (h *held) await(c caller) (left bool, told reply) {
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
		case <-patience.C:
			return true, h.pending()
		case <-beat.C:
			c.alive(beats, "waiting for a person's answer")
		}
	}
}

// run runs what was answered, unless it runs or has run already. The caller may cancel it.
// Where the end of the caller ends all, it is run right here, which is faster.
func (h *held) run(c caller) (finished <-chan struct{}, cancel context.CancelFunc) {
	h.g.mu.Lock()
	if h.finished != nil {
		defer h.g.mu.Unlock()
		return h.finished, func() {}
	}
	done := make(chan struct{})
	h.finished = done
	h.g.mu.Unlock()
	ctx, cancel := context.WithCancel(h.ctx)
	leave := h.g.routes.enter(h.connector, &c)
	work := func() {
		defer leave()
		h.work(c.passing(ctx), done)
	}
	if c.gone == nil {
		stop := context.AfterFunc(c.ctx, cancel)
		work()
		stop()
	} else {
		go work()
	}
	return done, cancel
}

// work runs the call, or finds that it must be asked again.
func (h *held) work(ctx context.Context, done chan struct{}) {
	results, err := tool.Finish(ctx, h.offer.gate, h.batch)
	h.g.mu.Lock()
	if errors.Is(err, approval.ErrOpen) {
		h.finished = nil
	} else {
		h.result = replyOf(results, err)
	}
	h.g.mu.Unlock()
	close(done)
	h.unclaimed()
}

// again asks again if the call was judged anew instead of being run.
func (h *held) again() bool {
	h.g.mu.Lock()
	must := h.finished == nil
	h.g.mu.Unlock()
	if must {
		h.ask()
	}
	return must
}

// leave says that nobody waits for the call any more.
func (h *held) leave() {
	h.g.mu.Lock()
	h.attended = false
	h.g.mu.Unlock()
	h.unclaimed()
}

// unclaimed starts the time in which an approved call must be claimed, or a result taken,
// if nobody is there to do it.
func (h *held) unclaimed() {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	if h.attended || h.over || h.expiry != nil || !h.ready() {
		return
	}
	h.expiry = time.AfterFunc(h.g.opts.Keep, h.expire)
}

// ready reports whether there is something to claim. It wants the lock.
func (h *held) ready() bool {
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
func (h *held) expire() {
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
		stop(fmt.Errorf("nobody claimed it within %v", h.g.opts.Keep))
		// With a context that is done an approved call ends as cancelled, and never runs.
		if _, err := h.batch.Start(stopped, 0, approval.Proposal{}); err == nil {
			panic("a call started with a context that is done")
		}
	}
	h.close()
}

// close forgets the call.
func (h *held) close() {
	h.g.mu.Lock()
	if h.over {
		h.g.mu.Unlock()
		return
	}
	h.over = true
	if h.expiry != nil {
		h.expiry.Stop()
	}
	rest := slices.DeleteFunc(h.g.held[h.key], func(o *held) bool { return o == h })
	if len(rest) == 0 {
		delete(h.g.held, h.key)
	} else {
		h.g.held[h.key] = rest
	}
	h.g.mu.Unlock()
	h.end()
	h.offer.users.Done()
}
