package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMCPHoldsToTheSwitchOfTheConfig has the user's own config turn asking off: what would
// be asked runs, what is denied and what a mode refuses does not.
func TestMCPHoldsToTheSwitchOfTheConfig(t *testing.T) {
	policy, notes := notesPolicy(t, "rules:\n  - deny write_file(notes/secret.md)\n")
	settings := t.TempDir()
	if err := os.Mkdir(filepath.Join(settings, "assent"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(settings, "assent", "config.yaml"), []byte("approvals: false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func(more ...string) *mcpClient {
		args := append([]string{"mcp", "-c", policy, "--tools", "files"}, more...)
		return startMCP(t, assent(t, []string{"XDG_CONFIG_HOME=" + settings}, args...))
	}
	c := serve()
	if got := c.call("write_file", `{"path":"notes/b.md","content":"x"}`); strings.HasPrefix(got, "[") {
		t.Errorf("what would be asked got %q", got)
	}
	if _, err := os.Stat(filepath.Join(notes, "b.md")); err != nil {
		t.Error(err)
	}
	if got := c.call("write_file", `{"path":"notes/secret.md","content":"x"}`); !strings.HasPrefix(got, "[DENIED]") {
		t.Errorf("what is denied got %q", got)
	}
	if got := serve("--strict").call("write_file", `{"path":"notes/c.md","content":"x"}`); !strings.HasPrefix(got, "[DENIED]") {
		t.Errorf("with --strict it got %q", got)
	}
}
