package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/store"
)

// What a gateway asked that was killed waits no longer than until somebody tidies up.
func TestMCP_TheGatewayIsKilled(t *testing.T) {
	dir := t.TempDir()
	policy, state := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "state")
	if err := os.WriteFile(policy, []byte("connectors:\n"+mcpServer("one", mcptest.Ordinary, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := assent(t, nil, "mcp", "-c", policy, "--state", state)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":%s}`+"\n", hello)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__echo","arguments":{"text":"hello"}}}`)
	s, err := store.Open(t.Context(), state, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	open := func(when string, want int) {
		t.Helper()
		if _, err := s.CleanSessions(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Open(t.Context(), ""); err != nil || len(all) != want {
			t.Errorf("%s %d requests wait, %v; want %d", when, len(all), err, want)
		}
	}
	waiting(t, s)
	open("while the gateway lives", 1)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	open("after its end", 0)
}
