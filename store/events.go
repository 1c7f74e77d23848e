package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
)

// maxGroup is how many of those who record are waited for together at most.
const maxGroup = 512

// An eventLog commits events in groups: while one who records commits a group, the
// next gathers, and one of those commits it.
type eventLog struct {
	mu      sync.Mutex
	waiting []*pendingEvent
	busy    bool       // somebody commits
	free    *sync.Cond // nobody does any more
	closed  bool

	chain   audit.Chain // only for who commits
	touched touched
}

// A pendingEvent is an event, or several that are recorded all or none, on the way.
type pendingEvent struct {
	rows []*eventRow
	lead chan struct{} // it is its turn to commit those that wait
	done chan error    // it is committed, or is not
}

// Record implements [approval.Recorder]: the event is in the store when it
// returns, so that the death of the process cannot lose it.
func (s *Store) Record(ctx context.Context, e approval.Event) error { return s.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder]. Secrets are taken out as the
// options say.
func (s *Store) RecordFull(ctx context.Context, e approval.Event) error { return s.RecordAll(ctx, e) }

// RecordAll records events in this order, all of them or none, as [Store.RecordFull] does
// one.
func (s *Store) RecordAll(ctx context.Context, events ...approval.Event) error {
	rows := make([]*eventRow, len(events))
	for i, e := range events {
		row, err := newEventRow(e.Keep(s.opt.Detail))
		if err != nil {
			return err
		}
		rows[i] = row
	}
	if ctx.Err() != nil {
		return late(ctx)
	}
	// What follows cannot be taken back, so ctx no longer counts.
	if err := s.commitEvents(rows); err != nil {
		return err
	}
	if s.opt.SyncAll || slices.ContainsFunc(events, byPerson) {
		return s.syncLog()
	}
	return s.syncSoon()
}

// byPerson reports whether a call starts because a person said so.
func byPerson(e approval.Event) bool {
	return e.Kind == approval.EventStarted && e.State == policy.StateApproved
}

// commitEvents returns when events are committed, by whoever does it.
func (s *Store) commitEvents(rows []*eventRow) error {
	p := &pendingEvent{rows: rows, lead: make(chan struct{}, 1), done: make(chan error, 1)}
	if !s.log.add(p) {
		return &Error{Path: s.path, Err: ErrClosed}
	}
	select {
	case <-p.lead:
		s.commitGroup(s.log.take())
		s.log.handOn()
		return <-p.done
	case err := <-p.done:
		return err
	}
}

// add lets an event wait, and lead if nobody does. It is false after close.
func (l *eventLog) add(p *pendingEvent) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.waiting = append(l.waiting, p)
	if !l.busy {
		l.busy = true
		p.lead <- struct{}{}
	}
	return true
}

// take returns the next group. The first of it is who leads.
func (l *eventLog) take() []*pendingEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), maxGroup)
	group := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return group
}

// handOn lets the next one lead.
func (l *eventLog) handOn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy = len(l.waiting) > 0; l.busy {
		l.waiting[0].lead <- struct{}{}
	} else {
		l.free.Broadcast()
	}
}

// close waits until everything is committed.
func (l *eventLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for l.busy {
		l.free.Wait()
	}
}

// commitGroup writes a group of events in one transaction, and says so to all of
// them.
func (s *Store) commitGroup(group []*pendingEvent) {
	_, h, err := s.transact(context.Background(), func(t *txn) error { return t.appendEvents(group) })
	err = s.fault(err)
	for _, p := range group {
		p.done <- err
	}
	if err == nil {
		s.tellEvents(h)
	}
}

// appendEvents adds events to the end of the chain.
func (t *txn) appendEvents(group []*pendingEvent) error {
	ends := lastEnds(group)
	for _, p := range group {
		for _, row := range p.rows {
			if err := t.appendEvent(row); err != nil {
				return err
			}
			if err := t.noteRunning(row, ends); err != nil {
				return err
			}
			if err := t.touch(row.session); err != nil {
				return err
			}
		}
	}
	return nil
}

const insertEvent = "INSERT INTO events (" + eventColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

func (t *txn) appendEvent(r *eventRow) error {
	hash := r.sum(&t.s.log.chain, t.head.hash)
	r.seq, r.prev, r.hash = t.head.seq+1, t.head.hash, hash[:]
	if err := t.exec(insertEvent, r.fields()...); err != nil {
		return err
	}
	t.head.seq, t.head.hash = r.seq, r.hash
	return nil
}

// noteRunning keeps the list of calls that have started and not ended. A call that ends in
// the same group is never seen running.
func (t *txn) noteRunning(r *eventRow, ends map[callKey]*eventRow) error {
	switch {
	case r.ends():
		if ends[r.callKey()] == r {
			delete(ends, r.callKey())
		}
		return t.exec("DELETE FROM running WHERE call = ? AND session = ?", r.call, r.session)
	case r.kind == string(approval.EventStarted) && ends[r.callKey()] == nil:
		return t.exec("INSERT INTO running (seq, session, call) VALUES (?, ?, ?)", r.seq, r.session, r.call)
	}
	return nil
}

// A callKey tells calls apart.
type callKey struct{ session, call string }

func (r *eventRow) callKey() callKey { return callKey{r.session, r.call} }

func (r *eventRow) ends() bool {
	return r.kind == string(approval.EventEnded) && policy.State(r.state).Runs()
}

// lastEnds returns the last end of each call that ends in the group.
func lastEnds(group []*pendingEvent) map[callKey]*eventRow {
	out := map[callKey]*eventRow{}
	for _, p := range group {
		for _, r := range p.rows {
			if r.ends() {
				out[r.callKey()] = r
			}
		}
	}
	return out
}

// errEnough ends a reading early.
var errEnough = errors.New("enough")

// An eventRow is a row of the table of events. The columns are there to be
// searched; body is the event itself. The hash covers all of them and the hash of
// the row before.
type eventRow struct {
	seq                              int64
	at                               int64
	kind, session, call, tool        string
	workers, state, stage, rule, via string
	waited                           int64 // how long a person took, in nanoseconds; -1 if none was asked
	body, prev, hash                 []byte
}

const eventColumns = "seq, at, kind, session, call, tool, workers, state, stage, rule, via, waited, body, prev, hash"

func (r *eventRow) fields() []any {
	return []any{r.seq, r.at, r.kind, r.session, r.call, r.tool, r.workers, r.state, r.stage, r.rule, r.via, r.waited,
		r.body, r.prev, r.hash}
}

func (r *eventRow) scan() []any {
	return []any{&r.seq, &r.at, &r.kind, &r.session, &r.call, &r.tool, &r.workers, &r.state, &r.stage, &r.rule, &r.via,
		&r.waited, &r.body, &r.prev, &r.hash}
}

// newEventRow makes a row of an event. Its place in the chain is not known yet.
func newEventRow(e approval.Event) (*eventRow, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	r := &eventRow{
		at: nanoseconds(e.At), kind: string(e.Kind), session: e.Session, call: e.CallID,
		tool: policy.Call{Connector: e.Connector, Tool: e.Tool}.Name(), workers: joinWorkers(e.Workers),
		state: string(e.State), stage: string(e.Stage), rule: e.Rule, via: string(e.By.Via), waited: -1, body: body,
	}
	if r.rule == "" {
		r.rule = e.Grant
	}
	if e.Request != "" && !e.Requested.IsZero() {
		r.waited = 0
		if e.Decided.After(e.Requested) {
			r.waited = int64(e.Decided.Sub(e.Requested))
		}
	}
	return r, nil
}

// joinWorkers writes a chain of workers so that one of them can be found: each
// stands between slashes.
func joinWorkers(chain []string) string {
	if len(chain) == 0 {
		return ""
	}
	return "/" + strings.Join(chain, "/") + "/"
}

// sum returns the hash of a row that follows the one with the hash prev.
func (r *eventRow) sum(chain *audit.Chain, prev []byte) [sha256.Size]byte {
	return chain.Hash(prev, r.numbers(), r.texts(), r.body)
}

// numbers and texts are the columns that the hash covers.
func (r *eventRow) numbers() []int64 { return []int64{r.at, r.waited} }

func (r *eventRow) texts() []string {
	return []string{r.kind, r.session, r.call, r.tool, r.workers, r.state, r.stage, r.rule, r.via}
}

// record returns the row as an audit log gives it out.
func (r *eventRow) record() (out approval.Record, err error) {
	out.Seq = r.seq
	copy(out.Prev[:], r.prev)
	copy(out.Hash[:], r.hash)
	if err := json.Unmarshal(r.body, &out.Event); err != nil {
		return out, damage("record %d cannot be read: %v", r.seq, err)
	}
	return out, nil
}
