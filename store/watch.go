package store

import (
	"context"
	"time"
)

// The log is written just before a change can be seen, so a watcher looks soon
// after, and again if it finds nothing. Where many write, it rests between looks.
var looks = []time.Duration{time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond}

const (
	rest    = 8 * time.Millisecond
	unheard = 15 * time.Millisecond // how often to look where the system says nothing
)

// watch notices what other processes write, until ctx is done. It sleeps until
// the system says that the write-ahead log was written to, and then asks SQLite.
// An error is not told: who uses the store next meets it.
func (s *Store) watch(ctx context.Context) {
	written := watchLog(ctx, s.path+logSuffix)
	if written == nil {
		written = func() bool { return wait(ctx, unheard) }
	}
	var seen []byte
	s.look(ctx, &seen) // what was written before the watch began
	for written() {
		for _, pause := range looks {
			if !wait(ctx, pause) || s.look(ctx, &seen) {
				break
			}
		}
		wait(ctx, rest)
	}
}

// look tells of what has changed, and reports whether something has.
func (s *Store) look(ctx context.Context, seen *[]byte) bool {
	h, err := s.now(ctx)
	if err != nil || string(h.sum()) == string(*seen) {
		return err != nil
	}
	*seen = h.sum()
	s.tell(h)
	return true
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
