package approvaltest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// TestSharedGates is the suite for gates of several processes over one store.
func TestSharedGates(t *testing.T, open func(t *testing.T) Pair) {
	t.Run("an answer from another process", func(t *testing.T) { answeredElsewhere(t, open(t)) })
	t.Run("an answer in this process is told to the others", func(t *testing.T) { answeredHere(t, open(t)) })
	t.Run("a losing answer leaves nothing behind", func(t *testing.T) { answerLoses(t, open(t)) })
	t.Run("an answer that cannot take effect is asked again", func(t *testing.T) { answerFails(t, open(t)) })
	t.Run("an answer that fails, and the next at once", func(t *testing.T) { answerFailsAndIsGivenAgain(t, open(t)) })
	t.Run("an answer in this process that cannot take effect is asked again", func(t *testing.T) { answerFailsHere(t, open(t)) })
	t.Run("a rule settles what waits in every process", func(t *testing.T) { ruleSettles(t, open(t)) })
	t.Run("a grant settles what waits in its session", func(t *testing.T) { grantSettles(t, open(t)) })
	t.Run("a question is withdrawn with its run", func(t *testing.T) { questionWithdrawn(t, open(t)) })
	t.Run("a question that nobody answers in time", func(t *testing.T) { questionExpires(t, open(t)) })
	t.Run("a saved batch runs once", func(t *testing.T) { savedBatchRunsOnce(t, open(t)) })
	t.Run("a saved batch collects its answers", func(t *testing.T) { savedBatchCollects(t, open(t)) })
	t.Run("the approver of a queue", func(t *testing.T) {
		TestApprover(t, func(t *testing.T) approval.Approver { return approval.Queue(open(t).One) })
	})
}

func randomID() string { return rand.Text() }

// gateOn returns a gate of one process, whose approver waits for the store.
func gateOn(t *testing.T, p Pair, s Store, approvers ...approval.Approver) *approval.Gate {
	t.Helper()
	return gateAsking(t, p, s, approval.First(append(approvers, approval.Queue(s))...))
}

func gateAsking(t *testing.T, p Pair, s Store, approver approval.Approver) *approval.Gate {
	t.Helper()
	begin(t, s, sessions.Session{ID: "s", Kind: sessions.KindHook})
	g, err := approval.New(approval.Config{
		Preparer: NewTools("ask", "other"), Clock: p.Clock.Now, NewID: randomID, Session: "s",
		Approver: approver, Rules: s, Grants: s, Recorder: s, Requests: s, Claims: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// decide decides about one call in the background.
func decide(g *approval.Gate, tool string) <-chan approval.Outcome {
	out := make(chan approval.Outcome, 1)
	go func() { out <- g.Decide(context.Background(), policy.Call{ID: randomID(), Tool: tool})[0] }()
	return out
}

// waiting waits until n requests are open and returns them.
func waiting(t *testing.T, s approval.RequestStore, n int) []approval.Posted {
	t.Helper()
	changed := make(chan struct{}, 100)
	defer s.NotifyRequests(func() { changed <- struct{}{} })()
	for {
		open, err := s.Open(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(open) == n {
			return open
		}
		wantTold(t, changed)
	}
}

func answer(t *testing.T, s approval.RequestStore, d approval.Decision) {
	t.Helper()
	d.By = policy.Who{User: "ann", Via: policy.ViaInbox}
	if err := s.Answer(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

func wantState(t *testing.T, o approval.Outcome, want policy.State) {
	t.Helper()
	if o.State != want {
		t.Errorf("the call is %s (%s), want %s", o.State, o.Why, want)
	}
}

func answeredElsewhere(t *testing.T, p Pair) {
	g := gateOn(t, p, p.One)
	for _, want := range []policy.State{policy.StateApproved, policy.StateDenied} {
		out := decide(g, "ask")
		r := waiting(t, p.Two, 1)[0].Request
		d := r.Approve("go ahead")
		if want == policy.StateDenied {
			d = r.Deny("not today")
		}
		answer(t, p.Two, d)
		o := <-out
		wantState(t, o, want)
		if o.Note() != d.Note || o.Decision.By.User != "ann" || o.Decision.By.Via != policy.ViaInbox {
			t.Errorf("decided %+v, want the answer of ann", o.Decision)
		}
	}
	out := decide(g, "ask")
	answer(t, p.Two, waiting(t, p.Two, 1)[0].Request.Approve("").Always("allow ask"))
	wantState(t, <-out, policy.StateApproved)
	wantRules(t, p.Two, "allow ask")
	wantState(t, <-decide(g, "ask"), policy.StateAutoApproved)
}

func answeredHere(t *testing.T, p Pair) {
	seen := make(chan struct{})
	here := approval.ApproverFunc(func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
		<-seen
		d := r.Approve("")
		d.By = policy.Who{User: "bob", Via: policy.ViaTerminal}
		return d, nil
	})
	out := decide(gateOn(t, p, p.One, here), "ask")
	r := waiting(t, p.Two, 1)[0].Request
	close(seen)
	wantState(t, <-out, policy.StateApproved)
	var late *approval.SettledError
	if err := p.Two.Answer(t.Context(), r.Deny("")); !errors.As(err, &late) || late.By.User != "bob" || late.State != policy.StateApproved {
		t.Errorf("the late answer: %v, want to hear of bob", err)
	}
	wantOpen(t, p.Two, "")
}

func answerLoses(t *testing.T, p Pair) {
	g := gateOn(t, p, p.One)
	b := g.Review(t.Context(), policy.Call{ID: "1", Tool: "ask"})
	r := b.Pending()[0]
	post(t, p.One, r)
	answer(t, p.Two, r.Deny("no"))
	err := b.Resolve(t.Context(), r.Approve("").Always("allow ask"))
	if !errors.Is(err, approval.ErrSettled) {
		t.Errorf("the second answer: %v, want ErrSettled", err)
	}
	wantState(t, b.Outcome(0), policy.StateDenied)
	wantRules(t, p.Two)
}

func answerFails(t *testing.T, p Pair) {
	out := decide(gateOn(t, p, p.One), "ask")
	r := waiting(t, p.Two, 1)[0].Request
	changed := make(chan struct{}, 100)
	defer p.Two.NotifyRequests(func() { changed <- struct{}{} })()
	answer(t, p.Two, r.Approve("").Always("allow other"))
	for {
		got, err := p.Two.Posted(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.Problem != "" && got.Settled == nil {
			break
		}
		wantTold(t, changed)
	}
	wantRules(t, p.Two)
	answer(t, p.Two, r.Deny("then not"))
	wantState(t, <-out, policy.StateDenied)
}

// Somebody may answer a question at once when it comes back; that answer holds.
func answerFailsAndIsGivenAgain(t *testing.T, p Pair) {
	eager := &eagerStore{Store: p.One, answer: func(r *approval.Request) error { return p.Two.Answer(t.Context(), r.Deny("then not")) }}
	out := decide(gateOn(t, p, eager), "ask")
	answer(t, p.Two, waiting(t, p.Two, 1)[0].Request.Approve("").Always("allow other"))
	wantState(t, <-out, policy.StateDenied)
}

// An eagerStore has a request answered as soon as it waits again, once.
type eagerStore struct {
	Store
	answer func(*approval.Request) error
	once   sync.Once
}

func (s *eagerStore) Reopen(ctx context.Context, r *approval.Request, why string) error {
	err := s.Store.Reopen(ctx, r, why)
	s.once.Do(func() { err = errors.Join(err, s.answer(r)) })
	return err
}

// Who waits at the queue sees the answer of this process before it is taken back, and must
// not take that for the end.
func answerFailsHere(t *testing.T, p Pair) {
	slow := &slowStore{Store: p.One, awaits: make(chan struct{}, 10), awaited: make(chan struct{}), reopened: make(chan struct{})}
	g := gateOn(t, p, slow)
	b := g.Review(t.Context(), policy.Call{ID: "1", Tool: "ask"})
	asked := make(chan struct{})
	go func() {
		g.Ask(context.Background(), b)
		close(asked)
	}()
	<-slow.awaits
	r := b.Pending()[0]
	if err := b.Resolve(t.Context(), r.Approve("").Always("allow other")); err == nil {
		t.Error("rules that do not cover the call are accepted")
	}
	select {
	case <-slow.awaits:
	case <-asked:
	}
	if err := b.Resolve(t.Context(), r.Approve("")); err != nil {
		t.Errorf("the second answer: %v", err)
	}
	<-asked
	wantState(t, b.Outcomes()[0], policy.StateApproved)
}

// A slowStore sees that a request was answered before the answer is taken back, and tells
// of it afterwards. It does so once.
type slowStore struct {
	Store
	awaits            chan struct{} // that somebody begins to wait
	awaited, reopened chan struct{}
	first, back       sync.Once
}

func (s *slowStore) Await(ctx context.Context, ids ...string) (approval.Posted, error) {
	s.awaits <- struct{}{}
	p, err := s.Store.Await(ctx, ids...)
	if err != nil {
		return p, err
	}
	s.first.Do(func() { close(s.awaited) })
	<-s.reopened
	return s.Posted(ctx, p.Request.ID)
}

func (s *slowStore) Reopen(ctx context.Context, r *approval.Request, why string) error {
	<-s.awaited
	err := s.Store.Reopen(ctx, r, why)
	s.back.Do(func() { close(s.reopened) })
	return err
}

func ruleSettles(t *testing.T, p Pair) {
	gate := gateOn(t, p, p.One)
	one, two := decide(gate, "ask"), decide(gateOn(t, p, p.Two), "ask")
	open := waiting(t, p.Two, 2)
	covered := gate.Covers(t.Context(), open[0].Request, open[0].Request.Deny("").Always("deny ask"))
	if len(covered) != 1 || covered[0].ID != open[1].Request.ID {
		t.Errorf("a rule would settle %d others as well, want the one of the other process", len(covered))
	}
	addRules(t, p.Two, "deny ask")
	wantState(t, <-one, policy.StateAutoDenied)
	wantState(t, <-two, policy.StateAutoDenied)
	for _, each := range open {
		got, err := p.One.Posted(t.Context(), each.Request.ID)
		if err != nil || got.Settled == nil || got.Settled.State != policy.StateAutoDenied || got.Settled.By.Via != policy.ViaRule {
			t.Errorf("posted as %+v, %v; want it settled by a rule", got.Settled, err)
		}
	}
}

func grantSettles(t *testing.T, p Pair) {
	one, two := decide(gateOn(t, p, p.One), "ask"), decide(gateOn(t, p, p.Two), "ask")
	open := waiting(t, p.Two, 2)
	answer(t, p.Two, open[0].Request.Approve("").ForSession(policy.ReachExact))
	states := map[policy.State]int{(<-one).State: 1}
	states[(<-two).State]++
	if states[policy.StateApproved] != 1 || states[policy.StateSessionApproved] != 1 {
		t.Errorf("the calls are %v, want one approved and the other by its grant", states)
	}
}

// questionExpires wants silence to be the same for who asked, in the log and where
// others look.
func questionExpires(t *testing.T, p Pair) {
	g := gateAsking(t, p, p.One, approval.Timeout(time.Millisecond, approval.Queue(p.One)))
	o := g.Decide(t.Context(), policy.Call{ID: "late", Tool: "ask"})[0]
	if o.State != policy.StateExpired {
		t.Errorf("the outcome is %s (%s), want %s", o.State, o.Why, policy.StateExpired)
	}
	posted, err := p.Two.Posted(t.Context(), o.Request)
	if err != nil || posted.Settled == nil || posted.Settled.State != policy.StateExpired {
		t.Errorf("the other process sees %+v, %v; want %s", posted.Settled, err, policy.StateExpired)
	}
	for r, err := range p.Two.Records(t.Context(), approval.RecordFilter{}) {
		if err != nil || r.CallID == "late" && r.State != policy.StateExpired {
			t.Errorf("recorded as %s, %v", r.State, err)
		}
	}
}

func questionWithdrawn(t *testing.T, p Pair) {
	g := gateOn(t, p, p.One)
	ctx, cancel := context.WithCancel(t.Context())
	out := make(chan approval.Outcome, 1)
	go func() { out <- g.Decide(ctx, policy.Call{ID: "1", Tool: "ask"})[0] }()
	r := waiting(t, p.Two, 1)[0].Request
	cancel()
	wantState(t, <-out, policy.StateDismissed)
	waiting(t, p.Two, 0)
	if err := p.Two.Answer(t.Context(), r.Approve("")); !errors.Is(err, approval.ErrSettled) {
		t.Errorf("answering what was withdrawn: %v, want ErrSettled", err)
	}
}

func savedBatchRunsOnce(t *testing.T, p Pair) {
	first := gateOn(t, p, p.One)
	b := first.Review(t.Context(), policy.Call{ID: "1", Tool: "ask"}, policy.Call{ID: "2", Tool: "ask"})
	for _, r := range b.Pending() {
		if err := b.Resolve(t.Context(), r.Approve("")); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var ran [2]atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		s := []Store{p.One, p.Two}[i%2]
		g := gateOn(t, p, s) // as in another process
		all.Go(func() {
			copied, err := g.Restore(context.Background(), saved)
			if err != nil {
				t.Error(err)
				return
			}
			for call := range ran {
				proposal, _ := NewTools("ask").Prepare(context.Background(), copied.Outcome(call).Call)
				x, err := copied.Start(context.Background(), call, proposal)
				if err == nil {
					ran[call].Add(1)
					err = x.End(context.Background(), approval.StageCompleted, nil)
				} else if errors.Is(err, approval.ErrClaimed) {
					err = nil
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for call := range ran {
		if n := ran[call].Load(); n != 1 {
			t.Errorf("call %d ran %d times, want once", call+1, n)
		}
	}
}

func savedBatchCollects(t *testing.T, p Pair) {
	b := gateOn(t, p, p.One).Review(t.Context(), policy.Call{ID: "1", Tool: "ask"}, policy.Call{ID: "2", Tool: "other"})
	pending := b.Pending()
	post(t, p.One, pending...)
	saved, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	answer(t, p.Two, pending[0].Approve("later"))
	p.Clock.Advance(time.Hour)
	again, err := gateOn(t, p, p.Two).Restore(t.Context(), saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := approval.Collect(t.Context(), p.Two, again); err != nil {
		t.Fatal(err)
	}
	o := again.Outcome(0)
	wantState(t, o, policy.StateApproved)
	if o.Note() != "later" || !o.Decision.At.Equal(Epoch) {
		t.Errorf("decided %+v, want the answer as it was given", o.Decision)
	}
	wantState(t, again.Outcome(1), policy.StatePending)
}
