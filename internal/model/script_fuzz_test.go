package model_test

import (
	"context"
	"testing"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

// FuzzScript plays whatever can be read to its end.
func FuzzScript(f *testing.F) {
	f.Add([]byte(issues))
	f.Add([]byte(script))
	f.Add([]byte("turns: [{say: a, listen: true}, {set: {b: {call: c}}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := model.ParseScript("fuzz.yaml", data)
		if err != nil {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // who waits in a script gives up at once
		var steps []worker.Step
		for range 20 {
			turn, err := s.Next(ctx, "hello", steps)
			if err != nil || len(turn.Calls) == 0 {
				return
			}
			step := worker.Step{Turn: turn}
			for _, c := range turn.Calls {
				step.Results = append(step.Results, worker.Result{ID: c.ID, Stage: "completed", Text: "ok"})
			}
			steps = append(steps, step)
		}
	})
}
