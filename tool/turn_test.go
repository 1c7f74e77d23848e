package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// Nothing of a turn runs before all of it is answered; then it runs in the
// model's order, and a denied call does not cancel its siblings.
func TestTurn(t *testing.T) {
	p := asks("p")
	p.prepare = func(args json.RawMessage, do tool.Do) (tool.Action, error) {
		if string(args) == `{"n":1}` {
			return tool.Free(do), nil
		}
		return tool.Ask(do), nil
	}
	d := newFixture(t, func(r *approval.Request) approval.Decision {
		p.wantRan(t) // nothing so far
		if string(r.Call.Arguments) == `{"n":3}` {
			return r.Deny("not three")
		}
		return r.Approve("")
	}, p)
	results := tool.Calls(context.Background(), d.gate,
		callOf("p", `{"n":1}`), callOf("p", `{"n":2}`), callOf("p", `{"n":3}`), callOf("p", `{"n":4}`))
	d.wantAsked(3)
	p.wantRan(t, `{"n":1}`, `{"n":2}`, `{"n":4}`)
	var states []policy.State
	for _, r := range results {
		states = append(states, r.Outcome.State)
	}
	want := []policy.State{policy.StateFree, policy.StateApproved, policy.StateDenied, policy.StateApproved}
	if !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
	if !errors.Is(results[2].Err, approval.ErrDenied) || results[3].Err != nil {
		t.Errorf("errors %v and %v", results[2].Err, results[3].Err)
	}
}

func TestCallsOfNothing(t *testing.T) {
	if results := tool.Calls(context.Background(), newFixture(t, yes, frees("t")).gate); len(results) != 0 {
		t.Errorf("results %v", results)
	}
}

// Every call that runs has a start and an end in the records, and a denied one
// an end.
func TestRecordsOfATurn(t *testing.T) {
	d := newFixture(t, no, frees("free"), asks("ask"))
	d.call("free", `{}`)
	d.call("ask", `{}`)
	want := []string{"started free executing", "ended free completed", "ended denied refused"}
	if got := d.history(); !slices.Equal(got, want) {
		t.Errorf("records %q, want %q", got, want)
	}
}

// Many goroutines may use one gate: each call ends as it was answered, and runs
// exactly once if it was allowed.
func TestManyCallersOfOneGate(t *testing.T) {
	const callers, turns = 16, 20
	var ran atomic.Int64
	p := asks("p")
	type numbered struct {
		N int `json:"n"`
	}
	count := tool.Func("count", "", func(context.Context, numbered) (any, error) { return ran.Add(1), nil })
	d := newFixture(t, func(r *approval.Request) approval.Decision {
		var in numbered
		if err := json.Unmarshal(r.Call.Arguments, &in); err != nil || in.N%2 == 1 {
			return r.Deny("odd")
		}
		return r.Approve("")
	}, append(tool.NeedsApproval(true, count), p)...)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for n := range turns {
				args, _ := json.Marshal(numbered{N: c*turns + n})
				r := tool.Call(context.Background(), d.gate, policy.Call{Tool: "count", Arguments: args})
				if denied := errors.Is(r.Err, approval.ErrDenied); denied != (n%2 == 1) {
					t.Errorf("call %s: %v", args, r.Err)
				}
			}
		})
	}
	wg.Wait()
	if n := ran.Load(); n != callers*turns/2 {
		t.Errorf("ran %d times, want %d", n, callers*turns/2)
	}
}

// Several callers that finish one batch run each call once.
func TestManyFinishersOfOneBatch(t *testing.T) {
	p := frees("p")
	d := newFixture(t, nil, p)
	for range 50 {
		batch := d.gate.Review(context.Background(), callOf("p", `{}`))
		var wg sync.WaitGroup
		var completed atomic.Int64
		for range 4 {
			wg.Go(func() {
				results, err := tool.Finish(context.Background(), d.gate, batch)
				switch r := results[0]; {
				case err != nil:
					t.Error(err)
				case r.Text == "did {}":
					completed.Add(1)
				case r.Stage != approval.StageCompleted && !errors.Is(r.Err, tool.ErrRunning):
					t.Errorf("a caller that came too late gets stage %s, error %v", r.Stage, r.Err)
				case r.Text == "":
					t.Error("the model is told nothing")
				}
			})
		}
		wg.Wait()
		if n := completed.Load(); n != 1 {
			t.Fatalf("%d callers got the result", n)
		}
	}
	if n := len(p.ran); n != 50 {
		t.Errorf("ran %d times, want 50", n)
	}
}
