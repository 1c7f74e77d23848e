package gateway

import "sync"

// maxIdle is how many hands are kept for the next call.
const maxIdle = 16

// hands take calls, one at a time each. Those that have nothing to do are kept: the stack of
// a goroutine grows while it takes its first call, which costs a good part of the call.
type hands struct {
	work chan func() // only somebody idle takes from it

	mu     sync.Mutex
	idle   int
	closed bool
	busy   sync.WaitGroup
}

func newHands() *hands { return &hands{work: make(chan func(), maxIdle)} }

// do has f done, and does not wait for it. After close it is not done.
func (h *hands) do(f func()) {
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

func (h *hands) serve(f func()) {
	for f != nil {
		f()
		h.busy.Done()
		f = h.next()
	}
}

// next returns what is to be done next; nil if nothing will be, or if enough others wait
// for it.
func (h *hands) next() func() {
	h.mu.Lock()
	if h.closed || h.idle == maxIdle {
		h.mu.Unlock()
		return nil
	}
	h.idle++
	h.mu.Unlock()
	return <-h.work
}

// close waits until all is done, and lets go of the hands.
func (h *hands) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.busy.Wait()
	close(h.work)
}
