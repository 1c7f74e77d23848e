package store

import (
	"context"
	"errors"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/group"
	"github.com/assent-dev/assent/store/kept"
)

// maxGroup is how many of those who record are waited for together at most.
const maxGroup = 512

// An eventLog is for who commits events.
type eventLog struct {
	chain   audit.Chain
	touched touched
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
	rows := make([]*kept.Record, len(events))
	for i, e := range events {
		row, err := kept.NewRecord(e.Keep(s.opt.Detail))
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
func (s *Store) commitEvents(rows []*kept.Record) error {
	err := s.events.Do(rows)
	if errors.Is(err, group.ErrClosed) {
		return &Error{Path: s.path, Err: ErrClosed}
	}
	return err
}

// commitGroup writes a group of events in one transaction.
func (s *Store) commitGroup(group [][]*kept.Record) error {
	_, h, err := s.transact(context.Background(), func(t *txn) error { return t.appendEvents(slices.Concat(group...)) })
	if err == nil {
		s.tellEvents(h)
	}
	return s.fault(err)
}

// appendEvents adds events to the end of the chain.
func (t *txn) appendEvents(rows []*kept.Record) error {
	ends := lastEnds(rows)
	for _, row := range rows {
		if err := t.appendEvent(row); err != nil {
			return err
		}
		if err := t.noteRunning(row, ends); err != nil {
			return err
		}
		if err := t.touch(row.Session); err != nil {
			return err
		}
	}
	return nil
}

const insertEvent = "INSERT INTO events (" + eventColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

func (t *txn) appendEvent(r *kept.Record) error {
	r.Follow(&t.s.log.chain, t.head.seq, t.head.hash)
	if err := t.exec(insertEvent, eventFields(r)...); err != nil {
		return err
	}
	t.head.seq, t.head.hash = r.Seq, r.Hash
	return nil
}

// noteRunning keeps the list of calls that have started and not ended. A call that ends in
// the same group is never seen running.
func (t *txn) noteRunning(r *kept.Record, ends map[callKey]*kept.Record) error {
	switch key := keyOf(r); {
	case r.Ends():
		if ends[key] == r {
			delete(ends, key)
		}
		return t.exec("DELETE FROM running WHERE call = ? AND session = ?", r.Call, r.Session)
	case r.Kind == string(approval.EventStarted) && ends[key] == nil:
		return t.exec("INSERT INTO running (seq, session, call) VALUES (?, ?, ?)", r.Seq, r.Session, r.Call)
	}
	return nil
}

// A callKey tells calls apart.
type callKey struct{ session, call string }

func keyOf(r *kept.Record) callKey { return callKey{r.Session, r.Call} }

// lastEnds returns the last end of each call that ends in the group.
func lastEnds(rows []*kept.Record) map[callKey]*kept.Record {
	out := map[callKey]*kept.Record{}
	for _, r := range rows {
		if r.Ends() {
			out[keyOf(r)] = r
		}
	}
	return out
}

// errEnough ends a reading early.
var errEnough = errors.New("enough")

const eventColumns = "seq, at, kind, session, call, tool, workers, state, stage, rule, via, waited, body, prev, hash"

func eventFields(r *kept.Record) []any {
	return []any{r.Seq, r.At, r.Kind, r.Session, r.Call, r.Tool, r.Workers, r.State, r.Stage, r.Rule, r.Via, r.Waited,
		r.Body, r.Prev, r.Hash}
}

func eventScan(r *kept.Record) []any {
	return []any{&r.Seq, &r.At, &r.Kind, &r.Session, &r.Call, &r.Tool, &r.Workers, &r.State, &r.Stage, &r.Rule, &r.Via,
		&r.Waited, &r.Body, &r.Prev, &r.Hash}
}
