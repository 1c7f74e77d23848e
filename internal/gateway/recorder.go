package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Recorder records what rules, grants and config let through without letting the caller
// wait for the store: events gather for a moment and are recorded together.
//
// That a call starts is kept in a [Spool] before it does, so that the death of the program
// cannot lose it. If the program dies before the end is recorded, the call counts as one
// whose end was not seen, which is true for whoever reads the log. Everything else, and
// what a person answered, is recorded before anybody goes on, as ever; so is everything
// once the store has failed, because nothing may run that cannot be recorded.
type Recorder struct {
	next  approval.DetailRecorder
	fail  func(error)
	work  chan struct{} // there is something to record
	hurry chan struct{} // somebody waits for it
	over  chan struct{}

	mu      sync.Mutex
	room    sync.Cond // there is room in the queue
	spool   *Spool    // nil records starts at once
	queue   []queued
	spare   []queued // room for the next queue
	broken  bool     // the store has failed
	closing bool
}

// A queued event waits to be recorded, and perhaps somebody for it.
type queued struct {
	event approval.Event
	done  chan<- error
}

const (
	// maxQueued is how many events may wait before callers do.
	maxQueued = 1000
	// gather is how long events wait for others.
	gather = 20 * time.Millisecond
)

// NewRecorder returns a recorder in front of another. Fail hears of what could not be
// recorded and must not record. Close it before the other. A nil spool makes starts wait
// for the other.
func NewRecorder(next approval.DetailRecorder, spool *Spool, fail func(error)) *Recorder {
	l := &Recorder{
		next: next, spool: spool, fail: fail, over: make(chan struct{}),
		work: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
	}
	l.room.L = &l.mu
	go l.move()
	return l
}

var _ approval.DetailRecorder = (*Recorder)(nil)

// Record implements [approval.Recorder].
func (l *Recorder) Record(ctx context.Context, e approval.Event) error { return l.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder].
func (l *Recorder) RecordFull(ctx context.Context, e approval.Event) error {
	done, ok := l.add(e)
	switch {
	case !ok:
		return l.next.RecordFull(ctx, e) // after the end
	case done == nil:
		return nil
	}
	signal(l.hurry)
	return <-done
}

// add puts an event into the queue, once there is room, and returns what is to be waited
// for, if anything. It is false after the end.
func (l *Recorder) add(e approval.Event) (done chan error, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) >= maxQueued && !l.closing {
		signal(l.hurry)
		signal(l.work) // what is tried again may be all there is
		l.room.Wait()
	}
	if l.closing {
		return nil, false
	}
	if !l.mayWait(e) {
		done = make(chan error, 1)
	}
	l.queue = append(l.queue, queued{e, done})
	signal(l.work)
	return done, true
}

// mayWait reports whether nobody needs to wait until the event is in the store. A start is
// kept in the spool then. It wants the lock.
func (l *Recorder) mayWait(e approval.Event) bool {
	switch {
	case l.broken:
		return false
	case e.Kind == approval.EventStarted:
		return e.State != policy.StateApproved && l.spool != nil && l.spool.keep(e) == nil
	}
	return e.Kind == approval.EventEnded && e.Stage == approval.StageCompleted
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// move records what has gathered, until the end.
func (l *Recorder) move() {
	defer close(l.over)
	for range l.work {
		l.wait()
		batch, spooled, last := l.take()
		l.record(batch, spooled)
		if last {
			return
		}
	}
}

// wait lets events gather, unless somebody waits for one.
func (l *Recorder) wait() {
	t := time.NewTimer(gather)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.hurry:
	}
}

// take empties the queue and turns to the other half of the spool, in one step: what is in
// the half that it returns is in the batch.
func (l *Recorder) take() (batch []queued, spooled *os.File, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, l.queue, l.spare = l.queue, l.spare, nil
	l.room.Broadcast()
	return batch, l.spool.turn(), l.closing
}

// record records a batch, in its order. What fails and nobody waits for is tried again with
// the next batch; the spool keeps its starts until then.
func (l *Recorder) record(batch []queued, spooled *os.File) {
	left, failed := l.recordAll(batch)
	if failed == nil {
		failed = empty(spooled) // what is in the store need not be in the spool
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if left != nil {
		l.queue = append(left, l.queue...)
	}
	clear(batch) // nothing of it is kept alive
	l.spare = batch[:0]
	l.broken = failed != nil
}

// recordAll records the events of a batch, at once if that can be done, and returns what
// failed and nobody waits for. If they cannot be recorded together each is tried alone, so
// that one of them does not keep the others out.
func (l *Recorder) recordAll(batch []queued) (left []queued, failed error) {
	record := func(approval.Event) error { return nil }
	if l.together(batch) != nil {
		record = l.oneByOne()
	}
	for _, q := range batch {
		err := record(q.event)
		switch {
		case q.done != nil:
			q.done <- err
		case err != nil:
			left = append(left, q)
			l.fail(fmt.Errorf("recording that %s %s failed: %w", q.event.Tool, q.event.Kind, err))
		}
		failed = errors.Join(failed, err)
	}
	return left, failed
}

// oneByOne returns how events are recorded one after another. Once two in a row have failed,
// so do the others: it is the store that takes none.
func (l *Recorder) oneByOne() func(approval.Event) error {
	var before, down error
	return func(e approval.Event) error {
		if down != nil {
			return down
		}
		err := l.next.RecordFull(context.Background(), e)
		if before != nil {
			down = err
		}
		before = err
		return err
	}
}

// A batchRecorder records events all or none, which is cheaper than one after another.
type batchRecorder interface {
	RecordAll(ctx context.Context, events ...approval.Event) error
}

var errAlone = errors.New("events are recorded one by one")

// together records the events of a batch in one step.
func (l *Recorder) together(batch []queued) error {
	next, ok := l.next.(batchRecorder)
	if !ok || len(batch) == 0 {
		return errAlone
	}
	events := make([]approval.Event, len(batch))
	for i, q := range batch {
		events[i] = q.event
	}
	return next.RecordAll(context.Background(), events...)
}

// Close records what waits. After it everything is recorded at once.
func (l *Recorder) Close() error {
	l.mu.Lock()
	already := l.closing
	l.closing = true
	l.room.Broadcast()
	l.mu.Unlock()
	if !already {
		signal(l.hurry)
		signal(l.work)
	}
	<-l.over
	return l.spool.Close()
}
