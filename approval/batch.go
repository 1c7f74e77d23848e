package approval

import (
	"sync"
	"time"
)

// A Batch is the calls of one turn of a model on their way through a gate. It
// is safe for concurrent use.
type Batch struct {
	gate *Gate
	id   string

	mu      sync.Mutex
	entries []*entry
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
	taken    bool
}

func (e *entry) pending() bool { return e.outcome.State == Pending }

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
}

// commit makes the draft the entry's state and tells who waited for it.
func (b *Batch) commit(e *entry, d draft) {
	b.mu.Lock()
	old := e.request
	asked := old != nil && e.pending()
	e.outcome, e.taken = d.outcome, false
	e.outcome.entry = e
	if d.proposal != nil {
		e.proposal = d.proposal
	}
	if d.request != nil {
		if old != nil {
			e.former = append(e.former, old.ID)
		}
		e.request = d.request
	}
	idle := b.idle()
	b.mu.Unlock()

	if asked {
		close(old.done)
		b.gate.release(d.outcome.Call.Session)
	}
	b.gate.track(b, !idle)
}

// take makes the caller the only one to work on the entry, if it is pending.
func (b *Batch) take(e *entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.taken || !e.pending() {
		return false
	}
	e.taken = true
	return true
}

// giveBack ends a take without a change.
func (b *Batch) giveBack(e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.taken = false
}

// event describes the draft, with the times of the request that it answers.
func (d *draft) event(kind EventKind, at time.Time, asked *Request) Event {
	ev := d.outcome.event(kind, at)
	if d.proposal != nil {
		ev.Profile = d.proposal.Profile
	}
	if asked != nil {
		ev.Requested = asked.Created
	}
	return ev
}
