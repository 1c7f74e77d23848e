package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/worker"
)

func deny(r *approval.Request) approval.Decision { return r.Deny("no") }

func TestThreeIdenticalRefusalsEndARun(t *testing.T) {
	same := func(id string) worker.Turn { return worker.Turn{Calls: []worker.Call{call(id, "a")}} }
	run, notes := newRun(t, deny, same("1"), same("2"), same("3"), same("4"))
	steps, err := say(t.Context(), run)
	var stopped *worker.StoppedError
	if !errors.As(err, &stopped) || !stopped.Repeated || len(steps) != 3 || len(*notes) != 0 {
		t.Errorf("error %v after %d steps, notes %v", err, len(steps), *notes)
	}
	if err != nil && !strings.Contains(err.Error(), "was denied 3 times in a row") {
		t.Errorf("error %v", err)
	}
}

func TestAnotherCallBetweenRefusalsCounts(t *testing.T) {
	var ts []worker.Turn
	for i, text := range []string{"a", "a", "b", "a", "a"} {
		ts = append(ts, worker.Turn{Calls: []worker.Call{call(fmt.Sprint(i), text)}})
	}
	run, _ := newRun(t, deny, ts...)
	if steps, err := say(t.Context(), run); err != nil || len(steps) != 6 {
		t.Errorf("error %v after %d steps", err, len(steps))
	}
}

func TestTokensEndARunOverAllMessages(t *testing.T) {
	run, _ := newRun(t, approve, worker.Turn{Usage: worker.Usage{Input: 50, Output: 10}}, worker.Turn{Usage: worker.Usage{Output: 50}})
	run.Limits.Tokens = 100
	for i := range 2 {
		if _, err := say(t.Context(), run); err != nil {
			t.Fatalf("message %d: %v", i+1, err)
		}
	}
	if _, err := say(t.Context(), run); !errors.Is(err, worker.ErrLimit) || !strings.Contains(err.Error(), "110 are used") {
		t.Errorf("error %v", err)
	}
	if got := run.Usage(); got.Input != 50 || got.Output != 60 {
		t.Errorf("usage %+v", got)
	}
}

// waiting is a model that never answers.
type waiting struct{}

func (waiting) Talk(ctx context.Context, _ worker.Prompt, _ worker.Listener) (worker.Turn, error) {
	<-ctx.Done()
	return worker.Turn{}, ctx.Err()
}

func TestTimeEndsARun(t *testing.T) {
	run, _ := newRun(t, approve)
	run.Talker, run.Limits.Time = waiting{}, time.Millisecond
	if _, err := say(t.Context(), run); !errors.Is(err, worker.ErrLimit) {
		t.Errorf("error %v", err)
	}
}

// What a call needs first is answered with it, and the model is told of its own calls only.
func TestFurtherCallsAreNotTheModels(t *testing.T) {
	run, notes := newRun(t, approve, worker.Turn{Calls: []worker.Call{call("1", "a")}})
	run.Workers = []string{"lead"}
	run.Expand = func(calls []worker.Call) []worker.Call {
		return append([]worker.Call{call("1#part", "first")}, calls...)
	}
	steps, err := say(t.Context(), run)
	if err != nil || strings.Join(*notes, " ") != "first a" {
		t.Fatalf("error %v, notes %v", err, *notes)
	}
	if r := steps[0].Results; len(r) != 1 || r[0].ID != "1" || r[0].Outcome.Call.Workers[0] != "lead" {
		t.Errorf("results %+v", r)
	}
}

// watcher writes down what it sees.
type watcher struct{ seen []string }

func (w *watcher) Text(piece string)          { w.seen = append(w.seen, "text "+piece) }
func (w *watcher) Again(time.Duration, error) {}
func (w *watcher) Turn(t worker.Turn)         { w.seen = append(w.seen, "turn "+t.Text) }
func (w *watcher) Results(rs []worker.Result) { w.seen = append(w.seen, "results "+rs[0].Text) }
func (ts speaking) Talk(ctx context.Context, p worker.Prompt, l worker.Listener) (worker.Turn, error) {
	t, err := turns(ts).Talk(ctx, p, l)
	l.Text(t.Text)
	return t, err
}

// speaking are turns that can be heard.
type speaking turns

func TestAWatcherSeesTheRunInOrder(t *testing.T) {
	run, _ := newRun(t, approve)
	run.Talker = speaking{{Text: "I do it.", Calls: []worker.Call{call("1", "a")}}, {Text: "Done."}}
	w := &watcher{}
	run.Watcher = w
	if _, err := say(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	want := "text I do it.; turn I do it.; results kept a; text Done.; turn Done."
	if got := strings.Join(w.seen, "; "); got != want {
		t.Errorf("saw  %s\nwant %s", got, want)
	}
}
