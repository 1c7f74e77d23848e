package db

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Changes say what has changed, here or at another replica. They are hints: whoever gets one looks for
// themselves, and one can come for nothing.
type Changes struct {
	Requests []string `json:"r,omitempty"` // questions that came, got a vote or ended
	// AnyRequest says that others may have changed too.
	AnyRequest bool     `json:"a,omitempty"`
	Gates      []string `json:"g,omitempty"` // machines for which there is news
	// AnyGate says that there may be news for others too.
	AnyGate bool `json:"m,omitempty"`
	Bundle  bool `json:"b,omitempty"`
	Outbox  bool `json:"o,omitempty"` // there is something to send
}

func (c Changes) empty() bool {
	return len(c.Requests) == 0 && len(c.Gates) == 0 && !c.AnyRequest && !c.AnyGate && !c.Bundle && !c.Outbox
}

// and returns the changes of both.
func (c Changes) and(o Changes) Changes {
	return Changes{
		Requests: unite(c.Requests, o.Requests), AnyRequest: c.AnyRequest || o.AnyRequest,
		Gates: unite(c.Gates, o.Gates), AnyGate: c.AnyGate || o.AnyGate,
		Bundle: c.Bundle || o.Bundle, Outbox: c.Outbox || o.Outbox,
	}
}

func unite(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// How replicas wake each other.
const (
	channel    = "assent_team"
	notifyPace = 8 * time.Millisecond // between two NOTIFYs of a replica, in the long run
	burst      = 4                    // how many may go at once after a quiet moment: an answer does not wait behind a vote
	maxPayload = 7900                 // PostgreSQL takes 8000 bytes
	pollPace   = time.Second
	testPace   = 30 * time.Second // between two tests of LISTEN
	testLimit  = 5 * time.Second  // for a word of our own to come back
)

// A message is what one replica tells the others.
type message struct {
	Tenant string `json:"t,omitempty"`
	From   string `json:"f"`
	Test   bool   `json:"x,omitempty"`
	Changes
}

// A hub tells watchers what has changed. NOTIFY takes one lock for the whole database until its
// transaction ends, so it is never sent in one that writes.
type hub struct {
	db      *DB
	name    string // tells our own messages from others'
	sending group[Changes]
	paced   time.Time // when the pace alone would let the next NOTIFY go; only send uses it

	hears  atomic.Bool   // a word of our own came back on LISTEN
	tested chan struct{} // it came back now
	stop   context.CancelFunc
	ends   sync.WaitGroup

	mu       sync.Mutex
	watchers map[*watcher]bool
	running  bool
}

// A watcher gets changes one at a time; what comes meanwhile is put together.
type watcher struct {
	mu      sync.Mutex
	pending Changes
	wake    chan struct{}
}

func newHub(d *DB) *hub {
	h := &hub{db: d, name: rand.Text(), tested: make(chan struct{}, 1), watchers: map[*watcher]bool{}, stop: func() {}}
	h.sending = group[Changes]{commit: h.send, all: true}
	return h
}

// tell tells watchers of this replica now, and others soon.
func (h *hub) tell(c Changes) {
	if c.empty() {
		return
	}
	h.deliver(c)
	h.sending.add(c)
}

func (h *hub) deliver(c Changes) {
	if c.empty() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		w.add(c)
	}
}

func (w *watcher) add(c Changes) {
	w.mu.Lock()
	w.pending = w.pending.and(c)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) take() Changes {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.pending
	w.pending = Changes{}
	return c
}

// send sends what gathered as one message. A message that is lost costs time until the next poll.
func (h *hub) send(items []Changes) {
	started := time.Now()
	var c Changes
	for _, item := range items {
		c.Requests, c.Gates = append(c.Requests, item.Requests...), append(c.Gates, item.Gates...)
		c.AnyRequest, c.AnyGate = c.AnyRequest || item.AnyRequest, c.AnyGate || item.AnyGate
		c.Bundle, c.Outbox = c.Bundle || item.Bundle, c.Outbox || item.Outbox
	}
	m := message{Tenant: h.db.tenant, From: h.name, Changes: c.and(Changes{})}
	if data, err := json.Marshal(m); err != nil || len(data) > maxPayload {
		m.Requests, m.AnyRequest = nil, true
	}
	if data, err := json.Marshal(m); err != nil || len(data) > maxPayload {
		m.Gates, m.AnyGate = nil, true
	}
	h.notify(m)
	if h.paced.Before(started) {
		h.paced = started
	}
	h.paced = h.paced.Add(notifyPace)
	if rest := time.Until(h.paced) - burst*notifyPace; rest > 0 {
		time.Sleep(rest)
	}
}

func (h *hub) notify(m message) {
	data, err := json.Marshal(m)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestCommit)
	defer cancel()
	// After a crash nobody needs it, so it does not wait for the disk.
	_, _ = h.db.pool.Exec(ctx, `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`, channel, string(data))
}

// Watch calls f with what changes, until ctx ends: one call at a time, in no particular order, the first
// with everything, since anything may have changed before.
func (d *DB) Watch(ctx context.Context, f func(Changes)) {
	w := &watcher{wake: make(chan struct{}, 1)}
	w.add(Changes{AnyRequest: true, AnyGate: true, Bundle: true, Outbox: true})
	d.hub.add(w)
	defer d.hub.remove(w)
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			if c := w.take(); !c.empty() {
				f(c)
			}
		}
	}
}

// Listens reports whether changes of other replicas come at once. Otherwise they are found by looking
// each second: behind some proxies LISTEN seems to work and delivers nothing.
func (d *DB) Listens() bool { return d.hub.hears.Load() }

func (h *hub) add(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers[w] = true
	if h.running {
		return
	}
	h.running = true
	ctx, cancel := context.WithCancel(context.Background())
	h.stop = cancel
	h.ends.Go(func() { h.listen(ctx) })
	h.ends.Go(func() { h.poll(ctx) })
}

func (h *hub) remove(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

func (h *hub) close() {
	h.mu.Lock()
	stop := h.stop
	h.mu.Unlock()
	stop()
	h.ends.Wait()
	h.sending.close()
}

// listen holds the one connection that listens, and makes it anew when it breaks or stays silent.
func (h *hub) listen(ctx context.Context) {
	for ctx.Err() == nil {
		_ = h.listenOnce(ctx) // why does not matter: until it works again, poll finds what changes
		h.hears.Store(false)
		select {
		case <-ctx.Done():
		case <-time.After(pollPace):
		}
	}
}

func (h *hub) listenOnce(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, h.db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, `LISTEN `+channel); err != nil {
		return err
	}
	// Something may have come while nobody listened.
	h.deliver(Changes{AnyRequest: true, AnyGate: true, Bundle: true, Outbox: true})
	var test sync.WaitGroup
	defer test.Wait()
	defer cancel()
	test.Go(func() {
		h.test(ctx)
		cancel()
	})
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal([]byte(n.Payload), &m); err != nil {
			continue // not one of ours
		}
		switch {
		case m.From == h.name && m.Test:
			select {
			case h.tested <- struct{}{}:
			default:
			}
		case m.From != h.name && m.Tenant == h.db.tenant:
			h.deliver(m.Changes)
		}
	}
}

// test sends a word to ourselves now and then; it returns when one does not come back.
func (h *hub) test(ctx context.Context) {
	for {
		h.notify(message{From: h.name, Test: true})
		select {
		case <-h.tested:
			h.hears.Store(true)
		case <-time.After(testLimit):
			return
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(testPace):
		case <-ctx.Done():
			return
		}
	}
}

// What the last look found.
type look struct {
	now      time.Time
	requests time.Time
	bundle   time.Time
	gates    map[string]int64
}

// poll looks each second for what no message told.
func (h *hub) poll(ctx context.Context) {
	tick := time.NewTicker(pollPace)
	defer tick.Stop()
	seen := look{gates: map[string]int64{}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c, err := h.look(ctx, &seen)
		if err == nil {
			h.deliver(c)
		}
	}
}

// lookBack is how far back a look goes: a transaction's time is that of its beginning.
const lookBack = 2 * longestCommit

func (h *hub) look(ctx context.Context, seen *look) (c Changes, err error) {
	ctx, cancel := context.WithTimeout(ctx, longestCommit)
	defer cancel()
	var now, requests, bundle time.Time
	err = h.db.pool.QueryRow(ctx, `SELECT now(), (SELECT max(changed) FROM team.requests WHERE tenant = $1),
		(SELECT max(created) FROM team.bundles WHERE tenant = $1), EXISTS (SELECT FROM team.outbox WHERE tenant = $1 AND next_at <= now())`,
		h.db.tenant).Scan(&now, moment(&requests), moment(&bundle), &c.Outbox)
	if err != nil {
		return c, err
	}
	c.AnyRequest, c.Bundle = !requests.Equal(seen.requests), !bundle.Equal(seen.bundle)
	rows, err := h.db.pool.Query(ctx, `SELECT gate, last FROM team.news WHERE tenant = $1 AND changed > $2`, h.db.tenant, seen.now.Add(-lookBack))
	if err != nil {
		return c, err
	}
	var gate string
	var last int64
	if _, err := pgx.ForEachRow(rows, []any{&gate, &last}, func() error {
		if last > seen.gates[gate] {
			seen.gates[gate] = last
			c.Gates = append(c.Gates, gate)
		}
		return nil
	}); err != nil {
		return c, fmt.Errorf("news: %w", err)
	}
	seen.now, seen.requests, seen.bundle = now, requests, bundle
	return c, nil
}
