package approvaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// PreparerFunc makes a Preparer of a function.
type PreparerFunc func(context.Context, policy.Call) (approval.Proposal, error)

// Prepare calls f.
func (f PreparerFunc) Prepare(ctx context.Context, call policy.Call) (approval.Proposal, error) {
	return f(ctx, call)
}

// Tools is a Preparer that proposes what it was told, by the tool's name. A
// proposal without acts gets one: the tool itself with the digest of its
// arguments, which asks. It is safe for concurrent use. Make one with [NewTools].
type Tools struct {
	mu        sync.Mutex
	proposals map[string]approval.Proposal
}

var _ approval.Preparer = (*Tools)(nil)

// NewTools returns tools of these names that ask.
func NewTools(names ...string) *Tools {
	t := &Tools{proposals: map[string]approval.Proposal{}}
	for _, name := range names {
		t.Set(name, approval.Proposal{})
	}
	return t
}

// Set says what a tool proposes from now on. The name has its connector before
// a colon, if it has one.
func (t *Tools) Set(name string, p approval.Proposal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.proposals[name] = p
}

// Remove takes a tool away.
func (t *Tools) Remove(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.proposals, name)
}

// Prepare implements [approval.Preparer]. A tool that is not there is an error.
func (t *Tools) Prepare(_ context.Context, call policy.Call) (approval.Proposal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.proposals[call.Name()]
	if !ok {
		return p, fmt.Errorf("unknown tool %q", call.Name())
	}
	if len(p.Acts) == 0 {
		p.Acts = []policy.Act{{
			Name: call.Tool, Connector: call.Connector, Known: true, Verdict: policy.VerdictAsk,
			Target: policy.ArgumentsTarget(call.Arguments),
		}}
	}
	return p, nil
}

// A Recorder keeps events in memory. The zero Recorder is ready. It is safe for
// concurrent use.
type Recorder struct {
	mu     sync.Mutex
	events []approval.Event
	fail   func(approval.Event) error
}

var _ approval.Recorder = (*Recorder)(nil)

// Record keeps the event, unless it was told to fail.
func (r *Recorder) Record(_ context.Context, e approval.Event) error {
	r.mu.Lock()
	fail := r.fail
	r.mu.Unlock()
	if fail != nil {
		if err := fail(e); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

// FailWith makes every record fail with err; nil makes them succeed again.
func (r *Recorder) FailWith(err error) {
	r.FailIf(func(approval.Event) error { return err })
}

// FailIf makes the records fail for which f returns an error. F may act as well:
// it is called before the event is kept.
func (r *Recorder) FailIf(f func(approval.Event) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = f
}

// Events returns what was recorded, in order.
func (r *Recorder) Events() []approval.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Of returns what was recorded about the call, in order.
func (r *Recorder) Of(callID string) []approval.Event {
	return slices.DeleteFunc(r.Events(), func(e approval.Event) bool { return e.CallID != callID })
}

// Rules returns the rules that the lines say, such as "allow read_file(notes/**)".
func Rules(t testing.TB, lines ...string) *policy.RuleSet {
	t.Helper()
	var all []policy.Rule
	for _, line := range lines {
		r, err := policy.ParseRule(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	set, err := policy.CompileRules(all)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Epoch is when a new [Clock] begins.
var Epoch = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

// A Clock shows the time that it was set to. The zero Clock shows [Epoch]. It is
// safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	passed time.Duration
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Epoch.Add(c.passed)
}

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed += d
}

// Set sets the time.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed = now.Sub(Epoch)
}

// IDs returns a function that returns id-1, id-2 and so on. It is safe for
// concurrent use.
func IDs() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("id-%d", n.Add(1)) }
}

// atOnce is how many record at once in [Fill]: stores commit those who wait
// together.
const atOnce = 512

// Fill records n calls that ended, a second after one another, for benchmarks with
// a large log.
func Fill(ctx context.Context, log approval.Recorder, n int) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make(chan error, atOnce)
	for range atOnce {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := log.Record(ctx, filler(i)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	var failed []error
	for err := range errs {
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func filler(i int64) approval.Event {
	return approval.Event{
		Kind: approval.EventEnded, At: Epoch.Add(time.Duration(i) * time.Second), Session: fmt.Sprint("s", i/1000),
		CallID: fmt.Sprint(i), Tool: "send", State: policy.StateFree, Stage: approval.StageCompleted,
		Arguments: []byte(`{"to":"ann"}`),
	}
}
