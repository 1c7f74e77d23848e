package anthropic_test

import (
	"testing"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/model/modeltest"
)

// A stream that is cut anywhere, however neatly, is no turn.
func TestNoBeginningOfAStreamIsATurn(t *testing.T) {
	whole := start + text(0, "So.") + use(1, "a", "read_file", `{"path":`, `"x"}`) + reason("tool_use") + stop
	var answers []modeltest.Answer
	for end := range len(whole) {
		answers = append(answers, modeltest.Stream(whole[:end]))
	}
	m := talker(t, modeltest.NewServer(t, append(answers, modeltest.Stream(whole))...), 1)
	for end := range answers {
		turn, err := m.Talk(t.Context(), prompt("x", tools...), nil)
		if err == nil || len(turn.Calls) != 0 || turn.Text != "" {
			t.Fatalf("cut at %d of %d: %+v, %v", end, len(whole), turn, err)
		}
		if f := fault(t, err); f.Kind != model.FaultBroken {
			t.Fatalf("cut at %d: %v", end, err)
		}
	}
	if turn, err := m.Talk(t.Context(), prompt("x", tools...), nil); err != nil || len(turn.Calls) != 1 {
		t.Errorf("whole: %+v, %v", turn, err)
	}
}

// FuzzStream reads whatever a server may say. What is a turn has calls with names and ids
// of their own.
func FuzzStream(f *testing.F) {
	f.Add(said("Hello."))
	f.Add(start + use(0, "a", "read_file", `{"path":"x"}`) + reason("tool_use") + stop)
	f.Add(start + open(0, `{"type":"tool_use","id":"","name":"x","input":[1]}`) + shut(0) + shut(0) + reason("end_turn") + stop)
	f.Fuzz(func(t *testing.T, stream string) {
		m := talker(t, modeltest.NewServer(t, modeltest.Stream(stream)), 1)
		turn, err := m.Talk(t.Context(), prompt("x", tools...), nil)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, c := range turn.Calls {
			if c.Tool == "" || c.ID == "" || seen[c.ID] || len(c.Arguments) == 0 {
				t.Errorf("call %+v", c)
			}
			seen[c.ID] = true
		}
	})
}
