package anthropic_test

import (
	"testing"

	"github.com/assent-dev/assent/internal/model/anthropic"
	"github.com/assent-dev/assent/internal/model/modeltest"
)

// FuzzStream reads whatever a server may say. What is a turn has calls with names and ids
// of their own.
func FuzzStream(f *testing.F) {
	f.Add(said("Hello."))
	f.Add(start + use(0, "a", "read_file", `{"path":"x"}`) + reason("tool_use") + stop)
	f.Add(start + open(0, `{"type":"tool_use","id":"","name":"x","input":[1]}`) + shut(0) + shut(0) + reason("end_turn") + stop)
	f.Fuzz(func(t *testing.T, stream string) {
		turn, err := anthropic.Read(stream)
		if err == nil {
			modeltest.CheckCalls(t, turn)
		}
	})
}
