package files

import (
	"context"
	"sync"
)

// An overlay is what the calls of a turn would leave behind, seen by those that
// come after them.
type overlay struct {
	mu     sync.Mutex
	states map[string]state // by roots.Place.Key
}

type overlayKey struct{}

// withOverlay returns a context in which the calls of one turn are prepared on
// top of each other: the second edit of a file is shown, and bound to, what the
// first one would leave.
//
// Calls run in a context without it: then the files themselves must have become
// what was shown, else the call is asked again.
func withOverlay(ctx context.Context) context.Context {
	if overlayOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, overlayKey{}, &overlay{states: map[string]state{}})
}

// overlayOf returns the overlay of a context. A nil overlay is empty and
// forgets what it is told.
func overlayOf(ctx context.Context) *overlay {
	o, _ := ctx.Value(overlayKey{}).(*overlay)
	return o
}

func (o *overlay) get(key string) (state, bool) {
	if o == nil {
		return state{}, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.states[key]
	return s, ok
}

func (o *overlay) set(key string, s state) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.states[key] = s
}
