package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// maxEnded is how many requests that have ended are remembered.
const maxEnded = 500

// Pending implements [terminal.Questions]: it looks into the store. A store that cannot be read is
// the end of the inbox.
func (in *Inbox) Pending() []*approval.Request {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil {
		in.err = in.look(context.Background())
	}
	if in.err != nil {
		return nil
	}
	out := make([]*approval.Request, len(in.waiting))
	for i, e := range in.waiting {
		out[i] = e.request
	}
	return out
}

// Outcomes implements [terminal.Questions]: how what Pending no longer returns has ended.
func (in *Inbox) Outcomes() []approval.Outcome {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.ended)
}

// look reads what waits, and how that has ended which waited before. The lock is held.
func (in *Inbox) look(ctx context.Context) error {
	open, err := in.store.Open(ctx, "")
	if err != nil {
		return err
	}
	known := make(map[string]entry, len(in.waiting))
	for _, e := range in.waiting {
		known[e.request.ID] = e
	}
	now := make([]entry, len(open))
	waits := make(map[string]bool, len(open))
	for i, p := range open {
		waits[p.Request.ID] = true
		now[i] = entry{p.Request, p.Problem}
		// One whose answer had no effect is a new one.
		if e, ok := known[p.Request.ID]; ok && e.problem == p.Problem {
			now[i] = e
		}
	}
	for _, e := range in.waiting {
		if !waits[e.request.ID] {
			if err := in.end(ctx, e.request); err != nil {
				return err
			}
		}
	}
	in.waiting = now
	return nil
}

// end notes how a request has ended.
func (in *Inbox) end(ctx context.Context, r *approval.Request) error {
	p, err := in.store.Posted(ctx, r.ID)
	if err != nil {
		return err
	}
	if p.Settled == nil { // who asked was killed, and nobody has cleaned up yet
		if _, err := in.store.CleanSessions(ctx); err != nil {
			return err
		}
		if p, err = in.store.Posted(ctx, r.ID); err != nil {
			return err
		}
	}
	if p.Settled == nil {
		return nil // it was opened again a moment ago, and is found with the next look
	}
	if !in.mine[r.ID] {
		in.others++
	}
	delete(in.mine, r.ID)
	in.ended = slices.DeleteFunc(in.ended, func(o approval.Outcome) bool { return o.Request == r.ID })
	if o, ok := outcome(r, p.Settled); ok {
		in.ended = append(in.ended, o)
	}
	in.ended = in.ended[max(len(in.ended)-maxEnded, 0):]
	return nil
}

// outcome is how the call of a request was answered. Of one that is asked again with other
// arguments that is not known yet.
func outcome(r *approval.Request, s *approval.Settlement) (approval.Outcome, bool) {
	o := approval.Outcome{Call: r.Call, Request: r.ID, State: s.State, Decision: s.Decision}
	switch {
	case s.Decision != nil && s.Decision.Arguments != nil:
		return o, false
	case s.Decision != nil:
	case s.By.Via != "":
		o.Basis = s.By.String()
	case s.State == policy.StateDismissed:
		o.Why = "the process that asked has ended, or asks no more"
	}
	return o, true
}

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
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			in.sweepOnce(ctx)
		}
	}
}

// sweepOnce cleans if a request was waiting that nobody waits for any more. An error is met again,
// and told, by who looks for requests.
func (in *Inbox) sweepOnce(ctx context.Context) {
	in.mu.Lock()
	waiting := slices.Clone(in.waiting)
	in.mu.Unlock()
	if len(waiting) == 0 {
		return
	}
	open, err := in.store.Open(ctx, "")
	if err != nil {
		return
	}
	waits := make(map[string]bool, len(open))
	for _, p := range open {
		waits[p.Request.ID] = true
	}
	if slices.ContainsFunc(waiting, func(e entry) bool { return !waits[e.request.ID] }) {
		_, _ = in.store.CleanSessions(ctx)
	}
}
