package interp

import (
	"os"
	"sync"
	"sync/atomic"
)

// A gate is what every start and every open of a run passes. Once it is closed none
// passes any more, in whatever goroutine, and everybody who waits is woken.
type gate struct {
	inside sync.RWMutex // held for reading by whoever acts
	empty  bool         // nobody is inside any more
	shut   atomic.Bool
	done   chan struct{} // closed with the gate

	mu  sync.Mutex
	err error

	// wake turns readable when the gate closes, for those who wait in poll(2).
	wake, waker *os.File
	wakeFd      int
}

func newGate() (*gate, error) {
	r, w, err := pipe()
	if err != nil {
		return nil, err
	}
	return &gate{done: make(chan struct{}), wake: r, waker: w, wakeFd: int(r.Fd())}, nil
}

// close closes the gate for a reason. The first reason stays. When close returns, no
// act is under way.
func (g *gate) close(err error) {
	g.mu.Lock()
	if g.err == nil {
		g.err = err
		g.shut.Store(true)
		close(g.done)
		g.waker.Close()
	}
	g.mu.Unlock()
	g.inside.Lock() // waits for those inside
	g.empty = true
	g.inside.Unlock()
}

func (g *gate) reason() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// pass calls f unless the gate is closed, and reports whether it did.
func (g *gate) pass(f func()) bool {
	g.inside.RLock()
	defer g.inside.RUnlock()
	if g.shut.Load() {
		return false
	}
	f()
	return true
}
