package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// While something is pending nothing of the turn runs, and every result says
// so. After the answer it runs, once.
func TestFinish(t *testing.T) {
	ctx := context.Background()
	free, asked := frees("free"), asks("asked")
	d := newFixture(t, nil, free, asked)
	batch := d.gate.Review(ctx, callOf("free", `{}`), callOf("asked", `{}`))

	results, err := tool.Finish(ctx, d.gate, batch)
	if !errors.Is(err, approval.ErrOpen) || err.Error() != "1 of 2 calls: waiting for an answer" {
		t.Errorf("error %v, want one of two open", err)
	}
	wantText(t, results[0], "[PENDING] free is allowed, and other calls of its turn are waiting for an answer. It has no result yet; do not repeat it.")
	wantText(t, results[1], "[PENDING] asked: waiting for an answer. It has no result yet; do not repeat it.")
	for _, r := range results {
		if !errors.Is(r.Err, approval.ErrOpen) {
			t.Errorf("%s: %v", r.Tool, r.Err)
		}
	}
	free.wantRan(t)
	asked.wantRan(t)

	if err := batch.Resolve(ctx, batch.Pending()[0].Approve("")); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"did {}", "[ENDED] asked has run before and was not run again. Do not retry it."} {
		results, err = tool.Finish(ctx, d.gate, batch)
		if err != nil || results[1].Err != nil {
			t.Errorf("time %d: %v, %v", i, err, results[1].Err)
		}
		wantText(t, results[1], want)
		free.wantRan(t, "{}")
		asked.wantRan(t, "{}")
	}
}

// What failed before is not tried again by a second Finish, and still is a
// failure.
func TestFinishAfterFailure(t *testing.T) {
	p := frees("t")
	p.do = func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("disk full") }
	d := newFixture(t, nil, p)
	batch := d.gate.Review(context.Background(), callOf("t", `{}`))
	for _, want := range []string{"t failed: disk full", "t failed: it has ended before and was not run again"} {
		results, err := tool.Finish(context.Background(), d.gate, batch)
		var failed *tool.FailedError
		if err != nil || !errors.As(results[0].Err, &failed) || failed.Error() != want {
			t.Errorf("%v, %v, want %s", err, results[0].Err, want)
		}
	}
	p.wantRan(t, "{}")
}

// A call that must be asked again in the middle halts the rest of the turn.
func TestFinishHaltsWhereItMustAskAgain(t *testing.T) {
	ctx := context.Background()
	w, after := newReplacer(t), frees("after")
	d := newFixture(t, yes, w, after)
	batch := d.gate.Review(ctx, callOf("replace", `{}`), callOf("after", `{}`))
	d.gate.Ask(ctx, batch)
	w.put(t, "two")
	results, err := tool.Finish(ctx, d.gate, batch)
	if !errors.Is(err, approval.ErrOpen) || !errors.Is(results[0].Err, approval.ErrOpen) || !errors.Is(results[1].Err, approval.ErrOpen) {
		t.Errorf("errors %v, %v, %v, want all open", err, results[0].Err, results[1].Err)
	}
	after.wantRan(t)
	w.want(t, "two")
	d.gate.Ask(ctx, batch)
	if _, err := tool.Finish(ctx, d.gate, batch); err != nil {
		t.Errorf("after the answer: %v", err)
	}
	after.wantRan(t, "{}")
	w.want(t, "{}")
}

// A program that ended while a call ran does not repeat it.
func TestFinishAfterACrash(t *testing.T) {
	ctx := context.Background()
	var saved []byte
	var batch *approval.Batch
	p := frees("t")
	p.do = func(context.Context, json.RawMessage) (any, error) {
		var err error
		saved, err = json.Marshal(batch) // what was on disk when the program ended
		return nil, err
	}
	d := newFixture(t, nil, p)
	batch = d.gate.Review(ctx, callOf("t", `{}`))
	if _, err := tool.Finish(ctx, d.gate, batch); err != nil {
		t.Fatal(err)
	}
	restored, err := d.gate.Restore(ctx, saved)
	if err != nil {
		t.Fatal(err)
	}
	results, err := tool.Finish(ctx, d.gate, restored)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, results[0], "[UNKNOWN] t had started and its end was not seen. It may have had its effect. Do not retry it.")
	var unknown *tool.UnknownError
	if !errors.As(results[0].Err, &unknown) {
		t.Errorf("error %v", results[0].Err)
	}
	p.wantRan(t, "{}")
}

// A call whose body goes on later is left suspended, with what stands behind it, and is
// entered again in whatever process: it is the same call, and is not begun anew.
func TestFinishReentersWhatIsSuspended(t *testing.T) {
	ctx := context.Background()
	entered := 0
	inner, after := asks("inner"), frees("after")
	inner.do = func(ctx context.Context, _ json.RawMessage) (any, error) {
		if entered++; tool.CallID(ctx) != "the call" {
			t.Errorf("it is called %q", tool.CallID(ctx))
		}
		if entered < 3 {
			return nil, fmt.Errorf("the child waits: %w", tool.ErrSuspended)
		}
		return "at last", nil
	}
	d := newFixture(t, yes, inner, after)
	call := callOf("inner", `{}`)
	call.ID = "the call"
	batch := d.gate.Review(ctx, call, callOf("after", `{}`))
	d.gate.Ask(ctx, batch)
	for range 2 {
		results, err := tool.Finish(ctx, d.gate, batch)
		if !errors.Is(err, approval.ErrOpen) || err.Error() != "1 of 2 calls: waiting for an answer" || !errors.Is(results[0].Err, tool.ErrSuspended) {
			t.Fatalf("errors %v, %v", err, results[0].Err)
		}
		wantText(t, results[0], "[PENDING] inner has begun and is waiting for an answer: it goes on later. It has no result yet; do not repeat it.")
		after.wantRan(t)
		saved, err := json.Marshal(batch)
		if err != nil {
			t.Fatal(err)
		}
		d = newFixture(t, nil, inner, after) // another process, where nobody is asked
		if batch, err = d.gate.Restore(ctx, saved); err != nil {
			t.Fatal(err)
		}
	}
	results, err := tool.Finish(ctx, d.gate, batch)
	if err != nil || results[0].Err != nil || entered != 3 {
		t.Fatalf("errors %v, %v, entered %d times", err, results[0].Err, entered)
	}
	wantText(t, results[0], "at last")
	after.wantRan(t, "{}")
}

// Where nobody can come back to it, a call that would be suspended has failed.
func TestCallsCannotSuspend(t *testing.T) {
	p := frees("t")
	p.do = func(context.Context, json.RawMessage) (any, error) { return nil, tool.ErrSuspended }
	var failed *tool.FailedError
	if r := newFixture(t, nil, p).call("t", `{}`); !errors.As(r.Err, &failed) {
		t.Errorf("error %v", r.Err)
	}
}

// A record that cannot be kept: nothing runs.
func TestNothingRunsUnrecorded(t *testing.T) {
	p := frees("t")
	gate, err := tool.Guard(approval.Config{Recorder: full{}}, p)
	if err != nil {
		t.Fatal(err)
	}
	r := tool.Call(context.Background(), gate, callOf("t", `{}`))
	if !errors.Is(r.Err, approval.ErrDenied) {
		t.Errorf("error %v", r.Err)
	}
	p.wantRan(t)
}

type full struct{}

func (full) Record(context.Context, approval.Event) error { return errors.New("disk full") }

// An end that cannot be recorded is told; the result is not lost.
func TestEndThatIsNotRecorded(t *testing.T) {
	p := frees("t")
	gate, err := tool.Guard(approval.Config{Recorder: startsOnly{}}, p)
	if err != nil {
		t.Fatal(err)
	}
	r := tool.Call(context.Background(), gate, callOf("t", `{}`))
	wantText(t, r, "did {}\n\n[It ran, but its end could not be recorded: disk full.]")
}

type startsOnly struct{}

func (startsOnly) Record(_ context.Context, e approval.Event) error {
	if e.Kind == approval.EventStarted {
		return nil
	}
	return errors.New("disk full")
}
