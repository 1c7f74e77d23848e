package openai_test

import (
	"testing"

	"github.com/assent-dev/assent/internal/model/modeltest"
	"github.com/assent-dev/assent/internal/model/openai"
)

// FuzzStream reads whatever a server may say. What is a turn has calls with names and ids
// of their own.
func FuzzStream(f *testing.F) {
	f.Add(said("Hello."))
	f.Add(begin(0, "a", "read_file", `{"path":"x"}`) + reason("tool_calls") + done)
	f.Add(more(-1, `{`) + begin(-1, "", "x", `}`) + begin(-1, "b", "x", ``) + reason("stop"))
	f.Fuzz(func(t *testing.T, stream string) {
		turn, err := openai.Read(stream)
		if err == nil {
			modeltest.CheckCalls(t, turn)
		}
	})
}
