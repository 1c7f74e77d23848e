package gateway

import "sync"

// routes know on which calls each connector works at the moment, so that what it asks or
// says on the way reaches who made the call, and on the stream of that call.
type routes struct {
	mu sync.Mutex
	by map[string][]*held // by connector
}

// enter notes that a connector works on a call; leave when it has ended.
func (r *routes) enter(connector string, h *held) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string][]*held{}
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
func (r *routes) of(connector string) *held {
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
