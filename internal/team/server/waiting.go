package server

import "sync"

// waiting are the calls that wait for news, by gate. Each costs a channel and a place in a map.
type waiting struct {
	mu    sync.Mutex
	calls map[string]map[chan struct{}]bool
	n     int
}

// enter lets a call wait; ok is false if too many do. The channel gets something when there may be news.
func (w *waiting) enter(gate string, most int) (wake chan struct{}, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n >= most {
		return nil, false
	}
	if w.calls == nil {
		w.calls = map[string]map[chan struct{}]bool{}
	}
	if w.calls[gate] == nil {
		w.calls[gate] = make(map[chan struct{}]bool, 1)
	}
	wake = make(chan struct{}, 1)
	w.calls[gate][wake] = true
	w.n++
	return wake, true
}

func (w *waiting) leave(gate string, wake chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls[gate], wake)
	if len(w.calls[gate]) == 0 {
		delete(w.calls, gate)
	}
	w.n--
}

// wake tells those who wait for one gate.
func (w *waiting) wake(gate string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.calls[gate] {
		nudge(c)
	}
}

// wakeAll tells everybody.
func (w *waiting) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, calls := range w.calls {
		for c := range calls {
			nudge(c)
		}
	}
}

// count is how many calls wait.
func (w *waiting) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// gates are those that somebody waits for.
func (w *waiting) gates() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]string, 0, len(w.calls))
	for g := range w.calls {
		out = append(out, g)
	}
	return out
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
