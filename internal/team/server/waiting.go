package server

import (
	"slices"
	"sync"
)

// waiting are the calls that wait for news, by gate. Each costs a channel and a place in a map.
type waiting struct {
	mu    sync.Mutex
	calls map[string][]waiter // a machine has one bridge, and so mostly one call
	n     int
}

// A waiter is one call.
type waiter struct {
	wake   chan struct{}
	serial int64 // of the bundle that the machine has
}

// mostOfOne is how many calls of one machine wait; another sends the oldest of them away.
const mostOfOne = 16

// enter lets a call wait; ok is false if too many do. The channel gets something when there may be news, and is closed
// when others of the same machine have come since.
func (w *waiting) enter(gate string, serial int64, most int) (wake chan struct{}, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if here := w.calls[gate]; len(here) >= mostOfOne {
		close(here[0].wake)
		w.calls[gate] = slices.Delete(here, 0, 1)
		w.n--
	}
	if w.n >= most {
		return nil, false
	}
	if w.calls == nil {
		w.calls = map[string][]waiter{}
	}
	wake = make(chan struct{}, 1)
	w.calls[gate] = append(w.calls[gate], waiter{wake, serial})
	w.n++
	return wake, true
}

func (w *waiting) leave(gate string, wake chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := len(w.calls[gate])
	left := slices.DeleteFunc(w.calls[gate], func(c waiter) bool { return c.wake == wake })
	w.n -= was - len(left) // it may have been sent away
	if len(left) == 0 {
		delete(w.calls, gate)
	} else {
		w.calls[gate] = left
	}
}

// wake tells those who wait for one gate.
func (w *waiting) wake(gate string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls[gate] {
		nudge(c.wake)
	}
}

// wakeAll tells everybody.
func (w *waiting) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, calls := range w.calls {
		for _, c := range calls {
			nudge(c.wake)
		}
	}
}

// count is how many calls wait.
func (w *waiting) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// serials are the bundles of the gates that somebody waits for.
func (w *waiting) serials() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[string]int64, len(w.calls))
	for gate, calls := range w.calls {
		out[gate] = calls[0].serial
	}
	return out
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
