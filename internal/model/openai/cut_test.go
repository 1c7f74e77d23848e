package openai_test

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/model/modeltest"
)

// A stream that is cut before it says why it ends, however neatly, is no turn. After that
// nothing is missing but the counts.
func TestNoBeginningOfAStreamIsATurn(t *testing.T) {
	calls := text("So.") + begin(0, "a", "read_file", `{"path":`) + more(0, `"x"}`) + reason("tool_calls")
	whole := calls + usage + done
	enough := strings.LastIndex(calls, "}") + len("\n\n") + 1
	var answers []modeltest.Answer
	for end := range len(whole) {
		answers = append(answers, modeltest.Stream(whole[:end]))
	}
	m := talker(t, modeltest.NewServer(t, answers...), 1)
	for end := range answers {
		turn, err := m.Talk(t.Context(), prompt("x", tools...), nil)
		switch {
		case end >= enough && err == nil:
			if len(turn.Calls) != 1 || string(turn.Calls[0].Arguments) != `{"path":"x"}` {
				t.Fatalf("cut at %d of %d: %+v", end, len(whole), turn)
			}
		case err == nil || len(turn.Calls) != 0 || turn.Text != "":
			t.Fatalf("cut at %d of %d: %+v, %v", end, len(whole), turn, err)
		case fault(t, err).Kind != model.FaultBroken:
			t.Fatalf("cut at %d: %v", end, err)
		}
	}
}
