package inbox

import (
	"context"
	"time"
)

// sweep ends the sessions of processes that were killed, so that nobody is asked in their
// name. Nothing in the store changes when a process dies, so it has to be looked at; while
// nothing waits, nothing is.
func (in *Inbox) sweep(ctx context.Context, every time.Duration) {
	defer close(in.swept)
	if every <= 0 {
		every = time.Second
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	done := map[string]bool{} // sessions that were not begun, or have ended: looked at once
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			in.sweepOnce(ctx, done)
		}
	}
}

// sweepOnce cleans if a request waits whose session is gone. An error is met again, and
// told, by who looks for requests.
func (in *Inbox) sweepOnce(ctx context.Context, done map[string]bool) {
	waiting := in.waitingSessions()
	if len(waiting) == 0 {
		return
	}
	alive, err := in.store.Sessions(ctx)
	if err != nil {
		return
	}
	for _, s := range alive {
		delete(waiting, s.ID)
	}
	gone := false
	for id := range waiting {
		gone = gone || !done[id]
		done[id] = true
	}
	if gone {
		_, _ = in.store.CleanSessions(ctx)
	}
}

func (in *Inbox) waitingSessions() map[string]bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	out := map[string]bool{}
	for _, e := range in.waiting {
		out[e.request.Call.Session] = true
	}
	return out
}
