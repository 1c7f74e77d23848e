package approval

import "sync"

// A Wait is a call that runs and waits for answers to questions that came up meanwhile. When it
// has ended, such a question stays open, but nobody shows it any more at the place where the call
// was asked for. A nil Wait never ends.
type Wait struct {
	over chan struct{}

	mu    sync.Mutex
	gone  *sync.Cond
	ended bool
	shown int
}

// NewWait returns one that has begun.
func NewWait() *Wait {
	w := &Wait{over: make(chan struct{})}
	w.gone = sync.NewCond(&w.mu)
	return w
}

// Over is closed when the call has ended.
func (w *Wait) Over() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.over
}

// Show is called before a question is shown; gone when it is not any more. It is not ok if the
// call has ended.
func (w *Wait) Show() (gone func(), ok bool) {
	if w == nil {
		return func() {}, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil, false
	}
	w.shown++
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.shown--
		w.gone.Broadcast()
	}), true
}

// End ends it, and returns when nothing is shown any more.
func (w *Wait) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.over)
	}
	for w.shown > 0 {
		w.gone.Wait()
	}
}
