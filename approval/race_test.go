package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
)

// TestManyAtOnce has many decide, answer, revoke, save and start at once, and
// wants each call to have one outcome, to be executed at most once, and never
// after a denial.
func TestManyAtOnce(t *testing.T) {
	for round := range rounds.N(20, 2000) {
		r := &race{fixture: newFixture(t), executed: map[string]*atomic.Int32{}}
		r.other = r.another(func(c *approval.Config) { c.NewID = prefixed("other-", c.NewID) })
		r.run(t, rand.New(rand.NewPCG(uint64(round), 7)))
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

func prefixed(prefix string, newID func() string) func() string {
	return func() string { return prefix + newID() }
}

type race struct {
	*fixture
	other    *approval.Gate
	batches  []*approval.Batch
	executed map[string]*atomic.Int32
}

func (r *race) run(t *testing.T, rng *rand.Rand) {
	for i := range 6 {
		var calls []policy.Call
		for j := range 4 {
			c := call([]string{"send", "mail", "write", "read"}[rng.IntN(4)], fmt.Sprint(rng.IntN(3)))
			c.ID = fmt.Sprintf("%d-%d", i, j)
			r.executed[c.ID] = new(atomic.Int32)
			calls = append(calls, c)
		}
		gate := []*approval.Gate{r.Gate, r.other}[i%2]
		r.batches = append(r.batches, gate.Review(t.Context(), calls...))
	}
	var all sync.WaitGroup
	for _, b := range r.batches {
		seed := rng.Uint64()
		for k := range 3 {
			all.Go(func() { r.answer(b, rand.New(rand.NewPCG(seed, uint64(k)))) })
		}
		all.Go(func() { r.save(b) })
		for i := range b.Outcomes() {
			for range 2 {
				all.Go(func() { r.execute(b, i) })
			}
		}
	}
	all.Go(func() { r.meddle(rand.New(rand.NewPCG(rng.Uint64(), 1))) })
	all.Wait()
	r.finish(t)
}

// answer answers what is pending, in all ways.
func (r *race) answer(b *approval.Batch, rng *rand.Rand) {
	for range 3 {
		for _, q := range b.Pending() {
			d := q.Approve("")
			switch rng.IntN(6) {
			case 0:
				d = q.Deny("")
			case 1:
				d = q.Approve("").ForSession(policy.ReachExact)
			case 2:
				d = q.Approve("").Always()
			case 3:
				d = q.Change([]byte(`{"what":"changed"}`), "")
			case 4:
				d = q.Deny("").ForSession(policy.ReachExact)
			}
			r.Covers(context.Background(), q, d)
			err := b.Resolve(context.Background(), d)
			if err != nil && !errors.Is(err, approval.ErrSettled) && !errors.Is(err, approval.ErrWrongCall) && !errors.Is(err, policy.ErrDuplicateRule) &&
				!errors.Is(err, approval.ErrInvalidDecision) && !errors.Is(err, approval.ErrNotOffered) {
				r.t.Errorf("answering: %v", err)
			}
		}
	}
}

func (r *race) save(b *approval.Batch) {
	data, err := json.Marshal(b)
	if err != nil {
		r.t.Errorf("saving: %v", err)
	} else if _, err := r.another(func(c *approval.Config) { c.Recorder = nil }).Restore(context.Background(), data); err != nil {
		r.t.Errorf("restoring: %v", err)
	}
}

func (r *race) execute(b *approval.Batch, i int) {
	for range 3 {
		o := b.Outcome(i)
		p, err := r.tools.Prepare(context.Background(), o.Call)
		if err != nil {
			r.t.Errorf("preparing: %v", err)
		}
		exec, err := b.Start(context.Background(), i, p)
		if err != nil {
			continue
		}
		if now := b.Outcome(i); !now.Runs() || now.Stage != approval.StageExecuting {
			r.t.Errorf("it runs and is %s, %s", now.State, now.Stage)
		}
		r.executed[o.Call.ID].Add(1)
		if err := exec.End(context.Background(), approval.StageCompleted, nil); err != nil {
			r.t.Errorf("ending: %v", err)
		}
	}
}

// meddle changes the rules and grants.
func (r *race) meddle(rng *rand.Rand) {
	for range 5 {
		rule, err := policy.ParseRule([]string{"deny mail", "allow send", "deny write_file(notes/**)"}[rng.IntN(3)])
		if err == nil {
			err = r.memory.AddRules(context.Background(), rule)
		}
		if err != nil && !errors.Is(err, policy.ErrDuplicateRule) {
			r.t.Errorf("adding a rule: %v", err)
		}
		grants, _ := r.memory.Grants(context.Background(), "s")
		for _, g := range grants.Grants() {
			if err := r.memory.RevokeGrant("s", g.ID); err != nil && !errors.Is(err, policy.ErrGrantNotFound) {
				r.t.Errorf("revoking: %v", err)
			}
		}
		rules, _ := r.memory.Rules(context.Background())
		for _, rule := range rules.Rules() {
			if err := r.memory.EnableRule(rule.ID, rng.IntN(2) == 0); err != nil {
				r.t.Errorf("enabling: %v", err)
			}
		}
	}
}

// finish dismisses what still waits and checks what must hold.
func (r *race) finish(t *testing.T) {
	for _, b := range r.batches {
		r.Ask(t.Context(), b) // nobody is there: what waits is refused
		for _, o := range b.Outcomes() {
			events := r.recorder.Of(o.Call.ID)
			starts, ends := 0, 0
			for i := 0; i < len(events); i++ {
				switch {
				case takenBack(events[i:]):
					i++ // it did not run, and both events say so
				case events[i].Kind == approval.EventEnded:
					ends++
				default:
					starts++
					if i > 0 && (i < 2 || !takenBack(events[i-2:])) {
						t.Errorf("call %s started after %v", o.Call.ID, events[i-1].State)
					}
				}
			}
			ran := int(r.executed[o.Call.ID].Load())
			if ran > 1 || starts != ran {
				t.Errorf("call %s ran %d times, with %d starts", o.Call.ID, ran, starts)
			}
			if wantEnds := 1; o.Stage != approval.StageReady && ends != wantEnds {
				t.Errorf("call %s is %s, %s and has %d ends", o.Call.ID, o.State, o.Stage, ends)
			}
			if o.State == policy.StatePending || o.State == "" || (ran == 1) != (o.Stage == approval.StageCompleted && o.Runs()) {
				t.Errorf("call %s ran %d times and is %s, %s", o.Call.ID, ran, o.State, o.Stage)
			}
		}
	}
	for _, g := range []*approval.Gate{r.Gate, r.other} { // nothing is counted as pending any more
		empty := &fixture{t: t, Gate: g, tools: approvaltest.NewTools()}
		r.tools.Set("fresh", approval.Proposal{})
		for i := range approval.MaxPending {
			empty.pending(call("fresh", fmt.Sprint(i)))
		}
	}
}

// takenBack reports whether the events begin with a start that came to nothing,
// because what allowed the call went away while the start was recorded.
func takenBack(events []approval.Event) bool {
	return len(events) > 1 && events[0].Kind == approval.EventStarted && events[1].Kind == approval.EventEnded && events[1].Stage == approval.StageCancelled
}

// TestAnswersRaceWithAChangeOfMemory wants an answer that comes while the memory
// changes to be taken, and a request that a new rule covers never to stay open.
func TestAnswersRaceWithAChangeOfMemory(t *testing.T) {
	for range rounds.N(20, 2000) {
		f := newFixture(t)
		b, r := f.pending(call("send", "x"))
		late := make(chan *approval.Batch, 1)
		var all sync.WaitGroup
		all.Go(func() { f.addRule("deny hub:post") }) // covers neither
		all.Go(func() { f.addRule("allow mail") })
		all.Go(func() { late <- f.Review(t.Context(), call("mail", "x")) })
		all.Go(func() {
			if err := b.Resolve(t.Context(), r.Approve("")); err != nil {
				t.Errorf("the only answer: %v", err)
			}
		})
		all.Wait()
		wantState(t, b, policy.StateApproved)
		wantState(t, <-late, policy.StateAutoApproved)
	}
}

// TestOneOfManyAnswersWins has many answer one request at once.
func TestOneOfManyAnswersWins(t *testing.T) {
	for range rounds.N(20, 2000) {
		f := newFixture(t)
		b, r := f.pending(call("send", "x"))
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				d := r.Approve("").Always(fmt.Sprintf("allow %s*", "send"[:i%4+1]))
				if i%2 == 0 {
					d = r.Approve("").Always("allow mail") // makes no sense, and must not harm the others
				}
				switch err := b.Resolve(context.Background(), d); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, approval.ErrSettled) && !errors.Is(err, approval.ErrInvalidDecision):
					t.Errorf("answer %d: %v", i, err)
				}
			})
		}
		all.Wait()
		rules, _ := f.memory.Rules(t.Context())
		if won.Load() != 1 || len(rules.Rules()) != 1 {
			t.Fatalf("%d answers won and %d rules were saved, want one", won.Load(), len(rules.Rules()))
		}
	}
}
