package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/tool"
)

// openedStore opens the store of a folder as another process would.
func openedStore(t testing.TB, folder string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), folder, store.Options{Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// eager answers all that it sees in an inbox with yes, until ctx is done.
func eager(ctx context.Context, t testing.TB, in *inbox.Inbox, name string) {
	changed, stop := in.Watch()
	defer stop()
	for {
		for _, r := range in.Pending() {
			d := r.Approve("")
			d.By = policy.Who{User: name, Via: policy.ViaInbox}
			if err := in.Resolve(ctx, d); err != nil && !errors.Is(err, approval.ErrSettled) && ctx.Err() == nil {
				t.Error(err)
			}
		}
		if err := in.Err(); err != nil {
			t.Error(err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// Several inboxes answer what several runs ask at once: each request is answered by one of
// them, and each call runs once.
func TestInbox_EachIsAnsweredOnce(t *testing.T) {
	const inboxes, runs = 4, 3
	turns, calls := rounds.N(4, 40), 5
	folder := t.TempDir()
	answering, stop := context.WithCancel(t.Context())
	defer stop()
	var open []*inbox.Inbox
	var people sync.WaitGroup
	for i := range inboxes {
		in, err := inbox.Open(t.Context(), openedStore(t, folder), inbox.Options{Owner: store.ThisProcess()})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, in)
		people.Go(func() { eager(answering, t, in, fmt.Sprint("person", i)) })
	}
	did := &tally{done: map[string]int{}}
	var work sync.WaitGroup
	for i := range runs {
		gate := queueGate(t, openedStore(t, folder), fmt.Sprint("run", i), did)
		work.Go(func() {
			for turn := range turns {
				askTurn(t, gate, fmt.Sprintf("%d.%d", i, turn), calls)
			}
		})
	}
	work.Wait()
	stop()
	people.Wait()
	sum := 0
	for _, in := range open {
		sum += in.Answered()
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	if want := runs * turns * calls; sum != want || did.calls() != want {
		t.Errorf("%d answers, %d calls ran, want %d of both", sum, did.calls(), want)
	}
}

// askTurn has the calls of one turn answered, all with yes.
func askTurn(t testing.TB, gate *tool.Gate, name string, n int) {
	var all []policy.Call
	for c := range n {
		id := fmt.Sprintf("%s.%d", name, c)
		all = append(all, policy.Call{ID: id, Tool: "do", Arguments: fmt.Appendf(nil, `{"n":%q}`, id)})
	}
	for _, r := range tool.Calls(t.Context(), gate, all...) {
		if r.Outcome.State != policy.StateApproved || r.Err != nil {
			t.Errorf("%s is %s: %s", r.ID, r.Outcome.State, r.Text)
		}
	}
}

// A tally counts what ran.
type tally struct {
	mu   sync.Mutex
	done map[string]int
}

// calls is how many different ones ran.
func (c *tally) calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.done)
}

func (c *tally) add(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done[id]++; c.done[id] > 1 {
		return fmt.Errorf("%s ran %d times", id, c.done[id])
	}
	return nil
}

// queueGate is the gate of a run whose questions are answered in other processes.
func queueGate(t testing.TB, s *store.Store, session string, did *tally) *tool.Gate {
	t.Helper()
	if err := s.BeginSession(t.Context(), sessions.Session{ID: session, Kind: sessions.KindRun, Owner: store.ThisProcess()}); err != nil {
		t.Fatal(err)
	}
	do := tool.Func("do", "Does it.", func(_ context.Context, in struct {
		N string `json:"n"`
	}) (json.RawMessage, error) {
		return json.RawMessage(`true`), did.add(in.N)
	})
	gate, err := tool.Guard(approval.Config{
		Session: session, Rules: s, Grants: s, Recorder: s, Requests: s, Claims: s, Approver: approval.Queue(s),
	}, tool.NeedsApproval(true, do)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gate.Close)
	return gate
}
