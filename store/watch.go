package store

import (
	"context"
	"sync"
	"time"
)

// A change is told apart by what its writer leaves in the file of the lock, which costs one read and no question to
// SQLite: where many processes share a store, each change wakes all of them.
const (
	rest    = 2 * time.Millisecond  // between two looks
	idle    = 25 * time.Millisecond // the rest of a process in which nobody waits for an answer or follows the log
	unheard = 15 * time.Millisecond // how often to look where nothing says that there was a write
	deaf    = time.Second           // how often to look in any case: a writer may have been killed before it rang
)

// A watcher notices what other processes write.
type watcher struct {
	*Store
	count commitCount
	at    uint64 // the count when the file was read last
	seen  []byte // the sum of the head that was read last
}

// watch tells of what is written, until ctx is done. It sleeps until a writer says that something was.
// An error is not told: who uses the store next meets it.
func (s *Store) watch(ctx context.Context) {
	w := &watcher{Store: s, count: commitCount{path: s.lock.path}}
	defer func() { _ = w.count.file.close() }() // it was only read
	rung := hangBell(ctx, s.lock.path)
	if rung == nil {
		rung = func(time.Duration) bool { wait(ctx, unheard); return false }
	}
	// What was written before the watch began is SQLite's to say: the file may be left from another database, or from before
	// the power failed, and be ahead of what is there.
	w.at, _, _ = w.count.last()
	w.ask(ctx)
	for patience := deaf; ; {
		heard := rung(patience)
		if ctx.Err() != nil {
			return
		}
		patience = deaf
		switch {
		case w.look():
		case heard: // somebody else writes already, and rings soon
			patience = unheard
		default: // or was killed
			w.ask(ctx)
		}
		s.listeners.rest(ctx)
	}
}

// look tells of what has changed by the file of the lock. It is false if the file does not say, and for as long as
// somebody writes.
func (w *watcher) look() bool {
	n, h, ok := w.count.last()
	if ok && n != w.at {
		w.at = n
		w.tell(h)
	}
	return ok
}

// ask tells of what has changed by SQLite, and reports whether something has.
func (w *watcher) ask(ctx context.Context) bool {
	h, err := w.now(ctx)
	if err != nil || string(h.sum()) == string(w.seen) {
		return err != nil
	}
	w.seen = h.sum()
	w.tell(h)
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

// A topic is something that may change.
type topic int

const (
	topicPolicy topic = iota // rules, preferences, grants, sessions
	topicRequests
	topicEvents
)

// listeners are those who want to know of changes, by whatever process.
type listeners struct {
	mu   sync.Mutex
	next int
	all  map[int]listener
	told head               // what all of them know
	stop context.CancelFunc // ends the watching, once it has begun
	done bool
	// eager gets something when somebody begins to listen who wants to know soon.
	eager chan struct{}
}

type listener struct {
	topic topic
	call  func()
}

// listen calls f after changes of a topic, without a lock held, until stop.
func (s *Store) listen(t topic, f func()) (stop func()) {
	l := &s.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int]listener{}
	}
	l.next++
	id := l.next
	l.all[id] = listener{t, f}
	if l.stop == nil && !l.done {
		var ctx context.Context
		ctx, l.stop = context.WithCancel(context.Background())
		l.eager = make(chan struct{}, 1)
		go s.watch(ctx)
	}
	if t != topicPolicy {
		select {
		case l.eager <- struct{}{}:
		default:
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, id)
	}
}

// rest is the time between two looks. It is short while somebody waits for requests or records: of many processes with one
// store, those that wait for nothing are not woken with each change.
func (l *listeners) rest(ctx context.Context) {
	l.mu.Lock()
	long, eager := idle, l.eager
	for _, each := range l.all {
		if each.topic != topicPolicy {
			long = rest
		}
	}
	l.mu.Unlock()
	t := time.NewTimer(long)
	defer t.Stop()
	select {
	case <-t.C:
	case <-eager:
	case <-ctx.Done():
	}
}

// signal listens to a topic with a channel that holds one.
func (s *Store) signal(t topic) (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	return c, s.listen(t, func() {
		select {
		case c <- struct{}{}:
		default:
		}
	})
}

// tell calls those who do not know of the changes up to h. Each change is told
// once, by who made it or by who noticed it.
func (s *Store) tell(h head) {
	for _, f := range s.listeners.due(h, topicPolicy, topicRequests, topicEvents) {
		f()
	}
}

// tellEvents tells of events alone. The log must not wait for listeners to
// other changes: what they do may need a record.
func (s *Store) tellEvents(h head) {
	for _, f := range s.listeners.due(h, topicEvents) {
		f()
	}
}

func (l *listeners) due(h head, topics ...topic) []func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []func()
	for _, t := range topics {
		if !l.told.advance(t, h) {
			continue
		}
		for _, each := range l.all {
			if each.topic == t {
				out = append(out, each.call)
			}
		}
	}
	return out
}

// advance takes the counters of a topic over from a newer head, and reports
// whether there was something new.
func (h *head) advance(t topic, now head) bool {
	switch t {
	case topicPolicy:
		if now.policy <= h.policy && now.grants <= h.grants {
			return false
		}
		h.policy, h.grants = max(h.policy, now.policy), max(h.grants, now.grants)
	case topicRequests:
		if now.requests <= h.requests {
			return false
		}
		h.requests = now.requests
	case topicEvents:
		if now.seq <= h.seq {
			return false
		}
		h.seq = now.seq
	}
	return true
}

func (l *listeners) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.stop != nil {
		l.stop()
	}
}

// Notify implements [approval.Notifier]: it tells of changes of rules, grants,
// sessions and preferences, within some milliseconds if another process made
// them.
func (s *Store) Notify(changed func()) (stop func()) { return s.listen(topicPolicy, changed) }

// NotifyRequests implements [approval.RequestStore].
func (s *Store) NotifyRequests(changed func()) (stop func()) { return s.listen(topicRequests, changed) }
