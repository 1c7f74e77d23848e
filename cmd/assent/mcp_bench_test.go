package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/store"
)

// BenchmarkMCPAnswered measures how long it takes from a person's answer in another process,
// this one, to the result of the call that it lets run.
func BenchmarkMCPAnswered(b *testing.B) {
	dir := b.TempDir()
	policy, state := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "state")
	if err := os.WriteFile(policy, []byte("connectors:\n"+mcpServer("one", mcptest.Ordinary, "")), 0o600); err != nil {
		b.Fatal(err)
	}
	c := startMCP(b, assent(b, nil, "mcp", "-c", policy, "--state", state))
	s, err := store.Open(b.Context(), state, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var took []time.Duration
	for b.Loop() {
		c.send("tools/call", `{"name":"one__echo","arguments":{"text":"hello"}}`)
		d := waiting(b, s).Approve("")
		d.By.User, d.At = "bench", time.Now()
		began := time.Now()
		if err := s.Answer(b.Context(), d); err != nil {
			b.Fatal(err)
		}
		got := c.receive()
		took = append(took, time.Since(began))
		if !bytes.Contains(got, []byte(`"text":"hello"`)) {
			b.Fatalf("got %s", got)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "median-ms")
}
