package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/store"
)

// BenchmarkMCPAnswered measures how long it takes from a person's answer in another process,
// this one, to the result of the call that it lets run.
func BenchmarkMCPAnswered(b *testing.B) {
	dir := b.TempDir()
	policy, state := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "state")
	if err := os.WriteFile(policy, []byte("connectors:\n"+server("one", mcptest.Ordinary, "")), 0o600); err != nil {
		b.Fatal(err)
	}
	path, err := program()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(path, "mcp", "-c", policy, "--state", state)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewScanner(out)
	hear := func(word string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), word) {
				return
			}
		}
		b.Fatalf("no %s: %v", word, lines.Err())
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	hear("serverInfo")
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s, err := store.Open(b.Context(), state, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"one__echo","arguments":{"text":"hello"}}}`+"\n", i+1)
		d := firstWaiting(b, s).Approve("")
		d.By.User, d.At = "bench", time.Now()
		began := time.Now()
		if err := s.Answer(b.Context(), d); err != nil {
			b.Fatal(err)
		}
		hear(`"text":"hello"`)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "median-ms")
}

// firstWaiting returns the request that waits, once there is one.
func firstWaiting(b *testing.B, s *store.Store) *approval.Request {
	b.Helper()
	changed := make(chan struct{}, 1)
	defer s.NotifyRequests(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for {
		open, err := s.Open(b.Context(), "")
		if err != nil {
			b.Fatal(err)
		}
		if len(open) > 0 {
			return open[0].Request
		}
		<-changed
	}
}
