package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/tool"
)

// twoTurns has calls that run freely and calls that wait for a person.
const twoTurns = `turns:
  - calls:
      - {id: a, tool: free, args: {n: a}}
      - {id: b, tool: asked, args: {n: b}}
      - {id: c, tool: asked, args: {n: c}}
  - calls: [{id: d, tool: free, args: {n: d}}]
  - calls: [{id: e, tool: asked, args: {n: e}}]
  - say: Done.
`

// A killer ends a run at one of its boundaries, as kill -9 would: nothing after it happens.
type killer struct{ left int }

// boundary is a point between two steps: of the gate, the store, a tool or the run.
func (k *killer) boundary() {
	if k.left--; k.left == 0 {
		runtime.Goexit()
	}
}

// killedRecorder has a boundary before and after each record.
type killedRecorder struct {
	approval.DetailRecorder
	*killer
}

func (r killedRecorder) RecordFull(ctx context.Context, e approval.Event) error {
	r.boundary()
	err := r.DetailRecorder.RecordFull(ctx, e)
	r.boundary()
	return err
}

// killedAside has a boundary before and after each save, collection and posting.
type killedAside struct {
	*aside
	*killer
}

func (a killedAside) Save(ctx context.Context, data []byte) error {
	a.boundary()
	err := a.aside.Save(ctx, data)
	a.boundary()
	return err
}

func (a killedAside) Collect(ctx context.Context, b *approval.Batch) error {
	a.boundary()
	err := a.aside.Collect(ctx, b)
	a.boundary()
	return err
}

func (a killedAside) Post(ctx context.Context, b *approval.Batch) error {
	a.boundary()
	err := a.aside.Post(ctx, b)
	a.boundary()
	return err
}

// effects counts how often each call had its effect.
type effects map[string]int

func (e effects) tool(k *killer, name string) tool.Tool {
	return tool.Func(name, "Does it.", func(_ context.Context, in struct {
		N string `json:"n"`
	}) (string, error) {
		k.boundary()
		e[in.N]++
		k.boundary()
		return "did " + in.N, nil
	})
}

// attempt runs or resumes the run in one "process", until it ends, waits or is killed. It
// returns the steps if it ended.
func attempt(t *testing.T, state string, done effects, k *killer) ([]worker.Step, error) {
	t.Helper()
	script, err := model.ParseScript("turns.yaml", []byte(twoTurns))
	if err != nil {
		t.Fatal(err)
	}
	d, err := openDesk(t.Context(), deskOrder{state: state, kind: approval.SessionRun, session: "s", keeps: true})
	if err != nil {
		t.Fatal(err)
	}
	d.kept = true
	defer d.close()
	d.shown.next = killedRecorder{d.shown.next, k}
	gate, err := d.gate([]string{"w"}, nil, []tool.Tool{done.tool(k, "free"), tool.NeedsApproval(true, done.tool(k, "asked"))[0]})
	if err != nil {
		t.Fatal(err)
	}
	a := &aside{desk: d, id: "run", parked: parked{Version: parkedVersion}}
	run := &worker.Run{Talker: script, Gate: gate, Workers: []string{"w"}, Aside: killedAside{a, k}}
	var round worker.Round
	err = errKilled
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		saved, loadErr := d.store.LoadRun(t.Context(), "run")
		if errors.Is(loadErr, approval.ErrRunNotFound) {
			round, err = run.Say(t.Context(), worker.Message{Text: "Go on."})
			return
		}
		p, parkedErr := loadParked(saved)
		if err = errors.Join(loadErr, parkedErr); err == nil {
			a.version, err = saved.Version, errKilled
			round, err = run.Resume(t.Context(), p.Run)
		}
	}()
	<-ended
	return round.Steps, err
}

var errKilled = errors.New("killed")

// answerAll says yes to whatever waits.
func answerAll(t *testing.T, state string) {
	t.Helper()
	s, err := openStore(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	open, err := s.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range open {
		if err := s.Answer(t.Context(), p.Request.Approve("")); err != nil {
			t.Fatal(err)
		}
	}
}

// Wherever the program is killed, once or twice, and resumed: no effect happens twice, no
// call is lost, and one that may have started is reported so.
func TestKilledAndResumedNothingRunsTwice(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	state := t.TempDir()
	n := 0
	for first := 1; ; first++ {
		reached := killTwice(t, filepath.Join(state, fmt.Sprint(first)), first, 0)
		n++
		if !reached {
			break // it ended before: there are no more boundaries
		}
	}
	t.Logf("%d boundaries", n-1)
	for i := range rounds.N(30, 200) {
		killTwice(t, filepath.Join(state, fmt.Sprint("twice", i)), 1+i%n, 1+(i*7)%n)
	}
}

// killTwice plays the story with kills at two boundaries, the second counted from the first
// resumption; 0 is none. It reports whether the first was reached.
func killTwice(t *testing.T, state string, first, second int) (reached bool) {
	t.Helper()
	done := effects{}
	kills := []int{first, second}
	for range 20 {
		k := &killer{}
		if len(kills) > 0 {
			k.left, kills = kills[0], kills[1:]
		}
		steps, err := attempt(t, state, done, k)
		var paused *worker.PausedError
		switch {
		case errors.Is(err, errKilled):
			reached = true
		case errors.As(err, &paused):
			if k.left > 0 { // not reached yet: count on
				kills = append([]int{k.left}, kills...)
			}
			answerAll(t, state)
		case err != nil:
			t.Fatalf("killed at %d and %d: %v", first, second, err)
		default:
			checkEffects(t, fmt.Sprintf("killed at %d and %d", first, second), steps, done)
			return reached
		}
	}
	t.Fatalf("killed at %d and %d: it does not end", first, second)
	return false
}

func checkEffects(t *testing.T, what string, steps []worker.Step, done effects) {
	t.Helper()
	told := map[string]approval.Stage{}
	for _, s := range steps {
		for _, r := range s.Results {
			told[r.ID] = r.Stage
		}
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		switch stage := told[id]; {
		case done[id] > 1:
			t.Errorf("%s: %s happened %d times", what, id, done[id])
		case stage == approval.StageCompleted && done[id] != 1:
			t.Errorf("%s: %s is told as completed and happened %d times", what, id, done[id])
		case stage != approval.StageCompleted && stage != approval.StageUnknown:
			t.Errorf("%s: %s is told as %q, and happened %d times", what, id, stage, done[id])
		}
	}
}
