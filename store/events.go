package store

import (
	"context"
	"errors"
	"sync"

	"github.com/assent-dev/assent/approval"
)

// maxGroup is how many events are committed together at most.
const maxGroup = 512

// An eventLog commits events in groups: while one group is on its way, the next
// gathers. Who records waits until their event is committed.
type eventLog struct {
	mu      sync.Mutex
	waiting []*pendingEvent
	wake    chan struct{} // nil before the first event
	closed  bool
	ended   chan struct{}

	chain chainer // only for who commits
}

type pendingEvent struct {
	row    *eventRow
	synced bool // it must be on the disk before the call goes on
	done   chan error
}

// Record implements [approval.Recorder]: the event is in the store when it
// returns, so that the death of the process cannot lose it.
func (s *Store) Record(ctx context.Context, e approval.Event) error { return s.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder]. Secrets are taken out as the
// options say.
func (s *Store) RecordFull(ctx context.Context, e approval.Event) error {
	row, err := newEventRow(e.Keep(s.opt.Detail))
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return late(ctx)
	}
	p := &pendingEvent{row: row, synced: s.opt.SyncAll || byPerson(e), done: make(chan error, 1)}
	if !s.log.add(p, s.commitEvents) {
		return &Error{Path: s.path, Err: ErrClosed}
	}
	// The commit is under way and cannot be taken back, so ctx no longer counts.
	return <-p.done
}

// byPerson reports whether a call starts because a person said so.
func byPerson(e approval.Event) bool {
	return e.Kind == approval.Started && e.State == approval.Approved
}

// add hands an event to whoever commits, who is started with the first.
func (l *eventLog) add(p *pendingEvent, commit func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.waiting = append(l.waiting, p)
	if l.wake == nil {
		l.wake, l.ended = make(chan struct{}, 1), make(chan struct{})
		go commit()
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return true
}

// take returns the next group; false when the log is closed and empty.
func (l *eventLog) take() ([]*pendingEvent, bool) {
	for {
		l.mu.Lock()
		n := min(len(l.waiting), maxGroup)
		group := l.waiting[:n:n]
		l.waiting = l.waiting[n:]
		closed := l.closed
		l.mu.Unlock()
		if n > 0 {
			return group, true
		}
		if closed {
			return nil, false
		}
		<-l.wake
	}
}

// close waits until everything is committed.
func (l *eventLog) close() {
	l.mu.Lock()
	l.closed = true
	wake, ended := l.wake, l.ended
	l.mu.Unlock()
	if wake != nil {
		select {
		case wake <- struct{}{}:
		default:
		}
		<-ended
	}
}

// commitEvents runs until the log is closed.
func (s *Store) commitEvents() {
	defer close(s.log.ended)
	for {
		group, ok := s.log.take()
		if !ok {
			return
		}
		s.commitGroup(group)
	}
}

// commitGroup writes a group of events in one transaction, brings it to the disk
// if one of them asks for that, and lets everybody go on.
func (s *Store) commitGroup(group []*pendingEvent) {
	_, h, err := s.transact(context.Background(), func(t *txn) error { return t.appendEvents(group) })
	err = s.fault(err)
	var waits []*pendingEvent
	if err == nil {
		err = s.syncSoon()
	}
	for _, p := range group {
		if p.synced && err == nil {
			waits = append(waits, p)
			continue
		}
		p.done <- err
	}
	if len(waits) > 0 {
		err := s.syncLog()
		for _, p := range waits {
			p.done <- err
		}
	}
	if err == nil {
		s.tellEvents(h)
	}
}

// appendEvents adds events to the end of the chain.
func (t *txn) appendEvents(group []*pendingEvent) error {
	touched := map[string]bool{}
	for _, p := range group {
		if err := t.appendEvent(p.row); err != nil {
			return err
		}
		if id := p.row.session; !touched[id] {
			touched[id] = true
			if err := t.touch(id); err != nil {
				return err
			}
		}
	}
	return nil
}

const insertEvent = "INSERT INTO events (" + eventColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

func (t *txn) appendEvent(r *eventRow) error {
	hash := t.s.log.chain.hash(r, t.head.hash)
	r.seq, r.prev, r.hash = t.head.seq+1, t.head.hash, hash[:]
	if err := t.exec(insertEvent, r.fields()...); err != nil {
		return err
	}
	t.head.seq, t.head.hash = r.seq, r.hash
	return t.noteRunning(r)
}

// noteRunning keeps the list of calls that have started and not ended.
func (t *txn) noteRunning(r *eventRow) error {
	switch {
	case r.kind == string(approval.Started):
		return t.exec("INSERT INTO running (seq, session, call) VALUES (?, ?, ?)", r.seq, r.session, r.call)
	case r.kind == string(approval.Ended) && approval.State(r.state).Runs():
		return t.exec("DELETE FROM running WHERE call = ? AND session = ?", r.call, r.session)
	}
	return nil
}

// errEnough ends a reading early.
var errEnough = errors.New("enough")
