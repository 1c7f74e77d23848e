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

// FuzzStream reads whatever a server may say. What is a turn has calls with names and ids
// of their own.
func FuzzStream(f *testing.F) {
	f.Add(said("Hello."))
	f.Add(begin(0, "a", "read_file", `{"path":"x"}`) + reason("tool_calls") + done)
	f.Add(more(-1, `{`) + begin(-1, "", "x", `}`) + begin(-1, "b", "x", ``) + reason("stop"))
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
