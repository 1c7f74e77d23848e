package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	channel   = "assent_store"
	gather    = 5 * time.Millisecond   // between two notifications: what changes meanwhile goes into one
	reconnect = 200 * time.Millisecond // after the connection that listens was lost
	deafPoll  = 50 * time.Millisecond  // between two looks where notifications do not arrive
	testEvery = 10                     // looks between two tests of the listening
	maxNamed  = 200                    // requests in one notification, of which PostgreSQL takes 8000 bytes
)

// listenStatement is what the connection that listens begins with.
var listenStatement = "LISTEN " + channel

// A topic is something that may change.
type topic int

const (
	topicMemory topic = iota // rules, preferences, grants, sessions
	topicRequests
	topicEvents
	topics
)

// news is what a notification says. Nothing depends on it: it only makes others look sooner.
type news struct {
	From string `json:"from"`
	Test int64  `json:"test,omitempty"`
	// At are the newest versions by topic; Requests are those that have changed.
	At       [topics]int64 `json:"at"`
	Requests []string      `json:"requests,omitempty"`
}

// A hub tells those who listen in this process of changes, made here or elsewhere.
//
// Others are told by NOTIFY, in a transaction of its own and at most once every few milliseconds: within the transactions that
// write it would make all of them wait for each other. Each second, or much more often where notifications do not arrive, the
// hub looks itself.
type hub struct {
	s    *Store
	me   string
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu        sync.Mutex
	next      int
	listeners map[int]listener
	awaited   map[string]map[int]chan struct{} // by request
	told      [topics]int64                    // versions that all listeners know of
	again     [topics]bool                     // what was seen by looking is told once more: it may not have been committed yet
	listening bool
	pending   *news // to be sent
	sending   bool
	tested    int64 // the last test that was sent, and that arrived
	heard     int64
	warned    bool
	look      chan struct{} // at once
}

type listener struct {
	topic topic
	call  func(requests []string) // nil: anything may have changed
}

func (h *hub) init(s *Store) {
	h.s, h.me = s, processKey(s.owner)
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.listeners, h.awaited, h.look = map[int]listener{}, map[string]map[int]chan struct{}{}, make(chan struct{}, 1)
}

// close sends what is still to be sent: a process that asks and ends at once is heard of as soon as others.
func (h *hub) close() {
	h.mu.Lock()
	last := h.pending
	h.pending = nil
	h.mu.Unlock()
	if last != nil {
		ctx, cancel := context.WithTimeout(h.ctx, time.Second)
		defer cancel()
		_ = h.notify(ctx, last) // others look by themselves
	}
	h.mu.Lock()
	h.stop() // with the lock, so that no further work begins
	h.mu.Unlock()
	h.work.Wait()
}

// listen calls f after changes of a topic, without a lock held, until stop.
func (h *hub) listen(t topic, f func(requests []string)) (stop func()) {
	h.begin(h.ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	id := h.next
	h.listeners[id] = listener{t, f}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, id)
	}
}

// await returns a channel that receives when one of the requests may have ended.
func (h *hub) await(ctx context.Context, ids []string) (changed <-chan struct{}, stop func()) {
	h.begin(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	me, c := h.next, make(chan struct{}, 1)
	for _, id := range ids {
		if h.awaited[id] == nil {
			h.awaited[id] = map[int]chan struct{}{}
		}
		h.awaited[id][me] = c
	}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, id := range ids {
			if delete(h.awaited[id], me); len(h.awaited[id]) == 0 {
				delete(h.awaited, id)
			}
		}
	}
}

// begin starts to listen and to look, once. What was there before is told to nobody.
func (h *hub) begin(ctx context.Context) {
	h.mu.Lock()
	begun := h.listening || h.ctx.Err() != nil
	h.listening = true
	h.mu.Unlock()
	if begun {
		return
	}
	if seen, err := h.versions(ctx); err == nil {
		h.mu.Lock()
		h.advance(seen)
		h.mu.Unlock()
	}
	h.start(h.hear)
	h.start(h.poll)
}

// start runs f until the hub is closed.
func (h *hub) start(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() == nil {
		h.work.Go(f)
	}
}

// advance notes versions as told. It wants the lock.
func (h *hub) advance(at [topics]int64) {
	for t := range at {
		h.told[t] = max(h.told[t], at[t])
	}
}

// requestsChanged tells of requests that this process has changed; the others of the same kind follow.
func (h *hub) requestsChanged(version int64, ids ...string) {
	if len(ids) > 0 {
		h.changed(topicRequests, version, ids...)
	}
}

func (h *hub) memoryChanged(version int64) { h.changed(topicMemory, version) }

// eventsChanged tells those who follow the log here. Those elsewhere find it when they look: a notification for every record
// would cost as much as the record.
func (h *hub) eventsChanged(seq int64) {
	h.mu.Lock()
	h.told[topicEvents] = max(h.told[topicEvents], seq)
	h.mu.Unlock()
	h.tell(topicEvents, nil)
}

// changed tells those who listen here at once, and the other processes soon.
func (h *hub) changed(t topic, version int64, ids ...string) {
	h.mu.Lock()
	h.told[t] = max(h.told[t], version)
	if h.pending == nil {
		h.pending = &news{From: h.me}
	}
	h.pending.At[t] = max(h.pending.At[t], version)
	h.pending.Requests = append(h.pending.Requests, ids...)
	if !h.sending && h.ctx.Err() == nil {
		h.sending = true
		h.work.Go(h.send)
	}
	h.mu.Unlock()
	h.tell(t, ids)
}

// send sends what is to be sent until there is nothing.
func (h *hub) send() {
	for {
		h.mu.Lock()
		out := h.pending
		h.pending = nil
		h.sending = out != nil
		h.mu.Unlock()
		if out == nil {
			return
		}
		_ = h.notify(h.ctx, out) // if it fails, others look by themselves
		if !wait(h.ctx, gather) {
			return
		}
	}
}

// notify sends news, in as many notifications as are needed.
func (h *hub) notify(ctx context.Context, n *news) error {
	var payloads []string
	for ids := range slices.Chunk(append(n.Requests, ""), maxNamed) { // the last chunk is never empty
		part := *n
		part.Requests = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
		payload, err := json.Marshal(part)
		if err != nil {
			return err
		}
		payloads = append(payloads, string(payload))
	}
	// They are of no use after a crash, so nobody waits for the disk.
	_, err := h.s.pool.Exec(ctx, "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, p) "+
		"FROM unnest($2::text[]) AS p", channel, payloads)
	return fault(err)
}

// tell calls those who listen to a topic, and wakes those who wait for the requests.
func (h *hub) tell(t topic, ids []string) {
	h.mu.Lock()
	var calls []func([]string)
	for _, l := range h.listeners {
		if l.topic == t {
			calls = append(calls, l.call)
		}
	}
	for _, id := range ids {
		for _, c := range h.awaited[id] {
			wake(c)
		}
	}
	h.mu.Unlock()
	for _, call := range calls {
		call(ids)
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// hear listens on a connection of its own, and on another when that is lost. It says so once.
func (h *hub) hear() {
	for heard := true; ; {
		listened, err := h.hearOnce()
		if h.ctx.Err() != nil {
			return
		}
		if heard || listened {
			h.s.opt.Warn(fmt.Errorf("notifications are not heard until the database is there again: %w", err))
		}
		heard = false
		h.mu.Lock()
		h.tested++ // so that what was heard before does not count
		h.mu.Unlock()
		if !wait(h.ctx, reconnect) {
			return
		}
	}
}

// hearOnce listens until the connection is lost, and reports whether there was one.
func (h *hub) hearOnce() (listened bool, err error) {
	conn, err := pgx.ConnectConfig(h.ctx, h.s.pool.Config().ConnConfig)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(h.ctx)) }()
	if _, err := conn.Exec(h.ctx, listenStatement); err != nil {
		return false, err
	}
	wake(h.look) // at what was missed, and whether we hear
	for {
		n, err := conn.WaitForNotification(h.ctx)
		if err != nil {
			return true, err
		}
		var heard news
		if err := json.Unmarshal([]byte(n.Payload), &heard); err != nil {
			continue // from somebody else
		}
		h.hears(heard)
	}
}

// hears tells of what another process has changed.
func (h *hub) hears(n news) {
	if n.From == h.me {
		h.mu.Lock()
		h.heard = max(h.heard, n.Test)
		h.mu.Unlock()
		return
	}
	var fresh [topics]bool
	h.mu.Lock()
	for t, at := range n.At {
		fresh[t] = at > 0
	}
	h.advance(n.At)
	h.mu.Unlock()
	for t := range topics {
		if fresh[t] {
			var ids []string
			if t == topicRequests {
				ids = n.Requests
			}
			h.tell(t, ids)
		}
	}
}

// poll looks for what no notification told of, and tests whether they arrive.
func (h *hub) poll() {
	for n := 0; ; n++ {
		h.lookNow()
		h.mu.Lock()
		deaf := h.heard < h.tested || h.tested == 0
		h.mu.Unlock()
		if deaf || n%testEvery == 0 {
			h.test()
		}
		pause := h.s.opt.Poll
		if deaf {
			pause = min(pause, deafPoll)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-h.look:
			timer.Stop()
			n = -1
		case <-h.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// patient is how many tests in a row may be on their way before somebody is told.
const patient = 40

// test sends a notification to ourselves. Behind some proxies LISTEN works and nothing ever arrives.
func (h *hub) test() {
	h.mu.Lock()
	if h.tested-h.heard > patient && !h.warned {
		h.warned = true
		defer h.s.opt.Warn(errors.New("the database delivers no notifications, as behind a proxy that shares connections; looking every " + deafPoll.String() + " instead"))
	}
	if h.tested == h.heard {
		h.warned = false
	}
	h.tested++
	test := news{From: h.me, Test: h.tested}
	h.mu.Unlock()
	_ = h.notify(h.ctx, &test) // one that does not arrive is noticed
}

// versions are the newest of each topic.
func (h *hub) versions(ctx context.Context) (at [topics]int64, err error) {
	before := time.Now()
	var database time.Time
	row := h.s.pool.QueryRow(ctx, `SELECT (SELECT last_value FROM store_memory_changes), (SELECT last_value FROM store_request_changes),
		coalesce((SELECT seq FROM store_streams WHERE id = $1), 0), clock_timestamp()`, h.s.opt.Stream)
	if err := row.Scan(&at[topicMemory], &at[topicRequests], &at[topicEvents], &database); err != nil {
		return at, fault(err)
	}
	h.s.clock.observe(database, before)
	return at, nil
}

// lookNow tells of what has changed since something was told, and wakes those whose requests have ended. An error is not told:
// who uses the store next meets it.
func (h *hub) lookNow() {
	at, err := h.versions(h.ctx)
	if err != nil {
		return
	}
	var due [topics]bool
	h.mu.Lock()
	for t := range at {
		fresh := at[t] > h.told[t]
		due[t], h.again[t] = fresh || h.again[t], fresh
	}
	h.advance(at)
	var ids []string
	for id := range h.awaited {
		ids = append(ids, id)
	}
	h.mu.Unlock()
	for t := range topics {
		if due[t] {
			h.tell(t, nil)
		}
	}
	if len(ids) > 0 {
		h.wakeEnded(ids)
	}
}

// wakeEnded wakes those who wait for requests that have ended or are gone.
func (h *hub) wakeEnded(ids []string) {
	rows, err := h.s.pool.Query(h.ctx, "SELECT id FROM store_requests WHERE id = ANY($1) AND state = 'open'", ids)
	if err != nil {
		return
	}
	open, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return
	}
	still := make(map[string]bool, len(open))
	for _, id := range open {
		still[id] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		if !still[id] {
			for _, c := range h.awaited[id] {
				wake(c)
			}
		}
	}
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

// Notify implements [approval.Notifier]: it tells of changes of rules, grants, sessions and preferences.
func (s *Store) Notify(changed func()) (stop func()) {
	return s.hub.listen(topicMemory, func([]string) { changed() })
}

// NotifyRequests implements [approval.RequestStore].
func (s *Store) NotifyRequests(changed func()) (stop func()) {
	return s.hub.listen(topicRequests, func([]string) { changed() })
}

// WatchRequests implements [approval.RequestWatcher].
func (s *Store) WatchRequests(changed func(ids []string)) (stop func()) {
	return s.hub.listen(topicRequests, changed)
}
