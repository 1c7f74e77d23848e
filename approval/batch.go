package approval

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/assent-dev/assent/policy"
)

// A Batch is the calls of one turn of a model on their way through a gate. It
// is safe for concurrent use.
type Batch struct {
	gate *Gate
	id   string

	mu      sync.Mutex
	copied  bool       // it was saved or restored, so there may be copies of it
	closed  bool       // it takes no more answers
	freed   *sync.Cond // an entry is no longer taken
	entries []*entry
}

// newBatch returns a batch of n calls that are not reviewed yet.
func (g *Gate) newBatch(id string, n int) *Batch {
	b := &Batch{gate: g, id: id, entries: make([]*entry, n)}
	b.freed = sync.NewCond(&b.mu)
	for i := range b.entries {
		b.entries[i] = &entry{batch: b}
	}
	return b
}

// An entry is one call of a batch. Whoever sets taken, under the batch's lock,
// is alone in working on the entry until it commits or gives it back; readers
// see the fields change under the lock only.
type entry struct {
	batch    *Batch
	proposal *Proposal // nil after a restart, unless it is pending
	request  *Request  // nil unless it was ever asked
	former   []string  // ids of requests that this one replaced
	outcome  Outcome
	running  *Execution // what may end the call, while it runs
	taken    bool
	counted  bool   // it counts against MaxPending; only for who has taken it
	seen     uint64 // the gate's changes when it was last judged
}

func (e *entry) pending() bool { return e.outcome.State == policy.StatePending }

// Gate returns the gate that the batch goes through.
func (b *Batch) Gate() *Gate { return b.gate }

// ID returns the batch's id.
func (b *Batch) ID() string { return b.id }

// Pending returns the requests that wait for an answer, in the model's order.
func (b *Batch) Pending() []*Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []*Request
	for _, e := range b.entries {
		if e.pending() {
			out = append(out, e.request)
		}
	}
	return out
}

// Outcomes returns how each call was answered, in the model's order; the state
// of those without an answer is Pending.
func (b *Batch) Outcomes() []Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Outcome, len(b.entries))
	for i, e := range b.entries {
		out[i] = e.outcome
	}
	return out
}

// Outcome returns how call i was answered.
func (b *Batch) Outcome(i int) Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entries[i].outcome
}

// idle reports whether nothing waits for an answer.
func (b *Batch) idle() bool {
	for _, e := range b.entries {
		if e.pending() {
			return false
		}
	}
	return true
}

// A draft is what an entry is about to become.
type draft struct {
	outcome  Outcome
	proposal *Proposal
	request  *Request // a new request, if the call is pending
	running  *Execution
	seen     uint64 // the gate's changes when it was judged
}

// commit makes the draft the entry's state, gives the entry back, and tells who
// waited for it.
func (b *Batch) commit(ctx context.Context, e *entry, d draft) {
	b.mu.Lock()
	old := e.request
	asked := old != nil && e.pending()
	e.outcome, e.running, e.seen, e.taken = d.outcome, d.running, d.seen, false
	if d.proposal != nil {
		e.proposal = d.proposal
	}
	if d.request != nil {
		if old != nil {
			e.former = append(e.former, old.ID)
		}
		e.request = d.request
	}
	if e.counted && !e.pending() {
		e.counted = false
		b.gate.release(e.outcome.Call.Session)
	}
	if asked {
		close(old.done)
	}
	b.gate.track(b, !b.idle())
	b.freed.Broadcast()
	b.mu.Unlock()
	if r := d.request; r != nil && r.Routing != nil && r.Routing.Need.Expires > 0 {
		go b.expireInTime(r)
	}
	b.recheck(ctx, e)
}

// take makes the caller the only one to work on the entry, if it is pending. It
// waits until nobody else does: theirs may come to nothing.
func (b *Batch) take(e *entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e.taken {
		b.freed.Wait()
	}
	e.taken = e.pending() && !b.closed
	return e.taken
}

// quiet waits until nobody works on the entry of a request.
func (b *Batch) quiet(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for slices.ContainsFunc(b.entries, func(e *entry) bool { return e.taken && e.request != nil && e.request.ID == id }) {
		b.freed.Wait()
	}
}

// takeStale takes the entry if it waits and was judged before the last change
// of what is remembered. It does not wait: who has it looks again afterwards.
func (b *Batch) takeStale(e *entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.taken || b.closed || !e.pending() || e.seen == b.gate.changes.Load() {
		return false
	}
	e.taken = true
	return true
}

// giveBack ends a take without a change. Seen says how much of what is
// remembered the entry was judged by.
func (b *Batch) giveBack(ctx context.Context, e *entry, seen uint64) {
	b.mu.Lock()
	e.taken, e.seen = false, seen
	b.freed.Broadcast()
	b.mu.Unlock()
	b.recheck(ctx, e)
}

// event describes the draft.
func (d *draft) event(kind EventKind, at time.Time) Event {
	ev := d.outcome.event(kind, at)
	if d.proposal != nil {
		ev.Profile = d.proposal.Profile
	}
	return ev
}
