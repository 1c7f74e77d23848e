package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/store"
)

// Behind a gateway a person lets a command out of the sandbox where all other questions are
// answered: this very one, and no other.
func TestMCPLeavingTheSandbox(t *testing.T) {
	policy, _ := notesPolicy(t, "")
	text := "sandbox:\n  paths:\n    notes: {root: ./notes, mode: rw, approval: allow}\nshell:\n  default: {approval: ask, when_sandboxed: allow}\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	outside, err := os.MkdirTemp("/var/tmp", "assent-mcp-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(outside)
	for _, name := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte("it is "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state := t.TempDir()
	c := startMCP(t, assent(t, nil, "mcp", "--state", state, "-c", policy, "--tools", "shell", "--hold", "100ms"))
	read := func(name string, escalate bool) string {
		return c.call("shell", fmt.Sprintf(`{"command":"cat %s/%s","escalate":%v}`, outside, name, escalate))
	}
	if got := read("one", true); !strings.Contains(got, "run it without escalate first") {
		t.Errorf("%s", got)
	}
	for _, name := range []string{"one", "two"} {
		if got := read(name, false); strings.Contains(got, "it is") || !strings.Contains(got, "sandbox") {
			t.Errorf("%s", got)
		}
	}
	if got := read("one", true); !strings.HasPrefix(got, "[PENDING]") {
		t.Fatalf("%s", got)
	}
	answer(t, state, "read "+outside+"/one, in this session")
	var got string
	for got = read("one", true); strings.HasPrefix(got, "[PENDING]"); {
		got = read("one", true)
	}
	if !strings.Contains(got, "it is one") {
		t.Errorf("%s", got)
	}
	// It is not the sandbox alone any more that holds this one, so it asks.
	if got := read("one", false); !strings.HasPrefix(got, "[PENDING]") {
		t.Errorf("%s", got)
	}
	if got := read("two", false); strings.Contains(got, "it is") {
		t.Errorf("%s", got)
	}
}

// answer takes the choice with this label for the question that waits.
func answer(t *testing.T, state, label string) {
	t.Helper()
	s, err := store.Open(t.Context(), state, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	open, err := s.Open(t.Context(), "")
	if err != nil || len(open) != 1 {
		t.Fatalf("waiting are %v, %v", open, err)
	}
	d := open[0].Request.Approve("")
	for _, choice := range open[0].Request.Choices {
		if choice.Label == label {
			d.Choice = choice.ID
		}
	}
	if d.Choice == "" {
		t.Fatalf("no choice %q among %v", label, open[0].Request.Choices)
	}
	d.By.User, d.At = "test", time.Now()
	if err := s.Answer(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// In strict nobody can be let out, and it is not offered.
func TestMCPStrictNobodyLeavesTheSandbox(t *testing.T) {
	policy, _ := notesPolicy(t, "shell:\n  default: {approval: allow}\n")
	c := startMCP(t, assent(t, nil, "mcp", "--state", t.TempDir(), "-c", policy, "--tools", "shell", "--strict"))
	if got := c.call("shell", `{"command":"cat /var/tmp/none","escalate":true}`); !strings.Contains(got, `"escalate" of shell: it is not taken`) {
		t.Errorf("%s", got)
	}
}
