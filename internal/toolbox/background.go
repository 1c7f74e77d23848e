package toolbox

import (
	"maps"
	"slices"
	"sync"

	"github.com/assent-dev/assent/tool/shell/runner"
)

// maxStaying is how many commands may leave programs in the background at a time.
const maxStaying = 16

// background are the commands that left programs running in their sandboxes. They end with this
// process at the latest.
type background struct {
	mu  sync.Mutex
	all map[*runner.Running]bool
}

// room reports whether another one may stay.
func (s *background) room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all) < maxStaying
}

// any reports whether something stays.
func (s *background) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all) > 0
}

// add notes what a command left, if it left something.
func (s *background) add(r *runner.Running) {
	if r == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*runner.Running]bool{}
	}
	s.all[r] = true
	go func() {
		<-r.Gone()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, r)
	}()
}

// end ends them all and returns when they are gone.
func (s *background) end() {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.all))
	s.mu.Unlock()
	for _, r := range all {
		r.End()
	}
}

// Lingers reports whether commands left programs in the background that still run.
func (b *Box) Lingers() bool { return b.staying != nil && b.staying.any() }
