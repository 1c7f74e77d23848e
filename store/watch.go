package store

import (
	"context"
	"time"
)

// The log is written just before a change can be seen, so a watcher that finds
// nothing looks again soon. Where many write, it rests a little between looks.
var looks = []time.Duration{0, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond}

const (
	rest     = 5 * time.Millisecond
	backstop = time.Second           // in case the system lost a word
	unheard  = 15 * time.Millisecond // how often to look where the system says nothing
)

// watch notices what other processes write, until ctx is done. It sleeps until
// the system says that the write-ahead log was written to, and then asks SQLite.
// An error is not told: who uses the store next meets it.
func (s *Store) watch(ctx context.Context) {
	written, every := watchLog(ctx, s.path+"-wal"), backstop
	if written == nil {
		every = unheard
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var seen []byte
	for {
		s.look(ctx, &seen)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-written:
			for _, pause := range looks {
				if !wait(ctx, pause) || s.look(ctx, &seen) {
					break
				}
			}
			wait(ctx, rest)
		}
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
	if d == 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
