package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// Cancelled while it runs: it says that part of it may be done, and the rest of
// the turn does not run.
func TestCancelDuringDo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := asks("p")
	p.do = func(ctx context.Context, _ json.RawMessage) (any, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	d := newFixture(t, yes, p)
	results := tool.Calls(ctx, d.gate, callOf("p", `{"n":1}`), callOf("p", `{"n":2}`))
	p.wantRan(t, `{"n":1}`)
	wantText(t, results[0], "[CANCELLED] p was stopped before it finished; part of it may be done: context canceled. Do not retry unless you are told to.")
	wantText(t, results[1], "[CANCELLED] p did not run; nothing was changed: context canceled. Do not retry unless you are told to.")
	for i, r := range results {
		var stopped *tool.CancelledError
		if !errors.As(r.Err, &stopped) || stopped.Started != (i == 0) || !errors.Is(r.Err, context.Canceled) || r.Stage != approval.StageCancelled {
			t.Errorf("call %d: %v, stage %s", i, r.Err, r.Stage)
		}
	}
	want := []string{"started approved executing", "ended approved cancelled", "ended approved cancelled"}
	if got := d.history(); !slices.Equal(got, want) {
		t.Errorf("records %q, want %q", got, want)
	}
}

// A tool that gets through in spite of the cancellation has done its work.
func TestCancelledTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := frees("p")
	p.do = func(context.Context, json.RawMessage) (any, error) { cancel(); return "sent", nil }
	r := tool.Call(ctx, newFixture(t, nil, p).gate, callOf("p", `{}`))
	if r.Err != nil || r.Text != "sent" || r.Stage != approval.StageCompleted {
		t.Errorf("%+v", r)
	}
}

// Cancelled after the yes and before the run: nothing runs.
func TestCancelAfterApproval(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	p := asks("p")
	d := newFixture(t, yes, p)
	batch := d.gate.Review(ctx, callOf("p", `{}`))
	d.gate.Ask(ctx, batch)
	cancel(errors.New("the user closed the window"))
	results, err := tool.Finish(ctx, d.gate, batch)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, results[0], "[CANCELLED] p did not run; nothing was changed: the user closed the window. Do not retry unless you are told to.")
	p.wantRan(t)

	// It stays so, for a caller that has all the time in the world.
	if _, err := tool.Finish(context.Background(), d.gate, batch); err != nil {
		t.Fatal(err)
	}
	p.wantRan(t)
}

// Cancelled while somebody is asked: the question is dismissed.
func TestCancelWhileAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := asks("p")
	gate, err := tool.Guard(approval.Config{Approver: approval.ApproverFunc(
		func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
			cancel()
			<-ctx.Done()
			return r.Approve(""), nil
		})}, p)
	if err != nil {
		t.Fatal(err)
	}
	r := tool.Call(ctx, gate, callOf("p", `{}`))
	if r.Err == nil || r.Stage == approval.StageCompleted {
		t.Errorf("%+v", r)
	}
	p.wantRan(t)
}

// A tool that notices a change and is cancelled at once is not asked again.
func TestChangedAndCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := asks("p")
	p.do = func(context.Context, json.RawMessage) (any, error) {
		cancel()
		return nil, fmt.Errorf("a.txt: %w", approval.ErrChanged)
	}
	d := newFixture(t, yes, p)
	r := tool.Call(ctx, d.gate, callOf("p", `{}`))
	var stopped *tool.CancelledError
	if !errors.As(r.Err, &stopped) {
		t.Errorf("error %v", r.Err)
	}
	d.wantAsked(1)
}
