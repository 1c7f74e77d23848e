//go:build all && linux

package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/postgres"
)

// A witness notes what was acknowledged.
type witness struct {
	mu       sync.Mutex
	answered map[string]policy.Digest
	recorded map[string]bool
	claimed  []approval.Claim
}

// work posts, answers, records and claims until it is told to stop. What fails is not acknowledged, and not tried again.
func (w *witness) work(t *testing.T, s *postgres.Store, name string, stop <-chan struct{}, done *atomic.Int64) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		id := fmt.Sprint(name, "-", i)
		requests, err := approvaltest.NewRequests(1, "session "+name)
		if err != nil {
			t.Error(err)
		}
		r := requests[0]
		d := r.Deny(id)
		err = s.Post(ctx, r)
		if err == nil {
			if err = s.Answer(ctx, d); err == nil {
				w.note(func() { w.answered[r.ID] = d.Digest() })
				done.Add(1)
			}
		}
		if err := s.Record(ctx, approval.Event{Kind: approval.EventEnded, At: time.Now(), Session: name, CallID: id, Tool: "t", State: policy.StateFree}); err == nil {
			w.note(func() { w.recorded[id] = true })
		}
		claim := approval.Claim{Batch: name, Call: id}
		if err := s.Claim(ctx, claim); err == nil {
			w.note(func() { w.claimed = append(w.claimed, claim) })
		}
		cancel()
	}
}

func (w *witness) note(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// A server that is killed and comes back has everything that it acknowledged, and who waited goes on waiting.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	server := pgtest.Start(t, pgtest.Options{})
	dsn := server.DSN()
	w := &witness{answered: map[string]policy.Digest{}, recorded: map[string]bool{}}
	stop := make(chan struct{})
	var done atomic.Int64
	var workers sync.WaitGroup
	var streams []*postgres.Store
	for i := range 4 {
		s := openStore(t, dsn, postgres.Options{Stream: fmt.Sprint("stream ", i)})
		streams = append(streams, s)
		workers.Go(func() { w.work(t, s, fmt.Sprint("worker", i), stop, &done) })
	}
	asks := openStore(t, dsn, postgres.Options{})
	question := approvaltest.Requests(t, 1, "patient")[0]
	if err := asks.Post(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	answer := make(chan approval.Posted, 1)
	go func() {
		p, err := asks.Await(context.Background(), question.ID)
		if err != nil {
			t.Errorf("waiting through restarts: %v", err)
		}
		answer <- p
	}()
	for range rounds.N(3, 50) {
		before := done.Load()
		waitUntil(t, func() bool { return done.Load() > before+20 })
		server.Kill()
		server.Restart()
	}
	close(stop)
	workers.Wait()
	if err := streams[0].Answer(t.Context(), question.Approve("")); err != nil {
		t.Fatal(err)
	}
	if p := <-answer; p.Settled == nil || p.Settled.State != policy.StateApproved {
		t.Errorf("who waited got %+v", p.Settled)
	}
	w.check(t, streams)
}

func (w *witness) check(t *testing.T, streams []*postgres.Store) {
	t.Helper()
	for id, digest := range w.answered {
		p, err := streams[0].Posted(t.Context(), id)
		if err != nil || p.Settled == nil || p.Settled.Decision.Digest() != digest {
			t.Errorf("request %s is %+v, %v; its answer was acknowledged", id, p.Settled, err)
		}
	}
	for _, c := range w.claimed {
		if err := streams[0].Claim(t.Context(), c); err == nil {
			t.Errorf("call %s can be claimed again", c.Call)
		}
	}
	found := 0
	for _, s := range streams {
		if v, err := s.Verify(t.Context()); err != nil || !v.OK() {
			t.Errorf("%s: %+v, %v", s.Stream(), v, err)
		}
		for r, err := range s.Records(t.Context(), approval.RecordFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if w.recorded[r.CallID] {
				found++
			}
		}
	}
	if found != len(w.recorded) {
		t.Errorf("%d of %d acknowledged records are there", found, len(w.recorded))
	}
	t.Logf("acknowledged: %d answers, %d records, %d claims", len(w.answered), len(w.recorded), len(w.claimed))
}

// waitUntil looks until something is so.
func waitUntil(t *testing.T, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); !so(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it did not become so within a minute")
		}
	}
}
