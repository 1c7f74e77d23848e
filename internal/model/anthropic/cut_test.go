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
