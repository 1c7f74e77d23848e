package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// tellsTo makes the user's config tell a program of what waits, at once, and returns the
// pipe into which it writes what it was told.
func (p *project) tellsTo(more string) (told string) {
	p.t.Helper()
	told = filepath.Join(p.t.TempDir(), "told")
	if err := syscall.Mkfifo(told, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.config(fmt.Sprintf("notify: [sh, -c, 'cat >\"$0\"', %q]\nnotify_after: 1ms\n%s", told, more))
	return told
}

// wantTold wants the program to have been told id, tool, summary, project and urgency, and nothing else.
func wantTold(t *testing.T, pipe, tool, summary string) {
	t.Helper()
	data, err := os.ReadFile(pipe) // waits for the program
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(data, &got); err != nil || len(got) != 5 || got["project"] == "" || got["urgency"] == "" || got["id"] == "" || got["tool"] != tool || got["summary"] != summary {
		t.Errorf("told %q, %v", data, err)
	}
	if bytes.Contains(data, []byte("one")) {
		t.Errorf("told the arguments: %q", data)
	}
}

func TestNotify_Run(t *testing.T) {
	p := notesProject(t)
	told := p.tellsTo("")
	r := p.at("run", "notes.worker", "Write.")
	wantTold(t, told, "write_file", "Create notes/a.md (4 bytes, 1 line)")
	r.asked("Create notes/a.md")
	r.types("y")
	r.ends(0)
}

// Only the user's own config names the program: no worker and no project can.
func TestNotify_OnlyTheUsersConfig(t *testing.T) {
	p := newProject(t, map[string]string{"turns.yaml": oneWrite})
	p.put("notes.worker", "---\nmodel: script:turns.yaml\nnotify: [touch, told]\n---\n")
	r := p.begin("run", "--strict", "notes.worker", "Write.")
	r.ends(1, "notify")
	p.hasNot("told")
}

func TestNotify_Gateway(t *testing.T) {
	p := notesProject(t)
	told := p.tellsTo("")
	policy, notes := notesPolicy(t, "")
	c := startMCP(t, p.assent("mcp", "-c", policy, "--tools", "files"))
	x := p.inbox()
	done := make(chan string)
	go func() { done <- c.call("write_file", `{"path":"notes/b.md","content":"one\n"}`) }()
	wantTold(t, told, "write_file", "Create notes/b.md (4 bytes, 1 line)")
	x.picks("Create notes/b.md", "From: test in ")
	x.types("y")
	<-done
	x.sees("Nothing waits · 1 answered")
	x.leaves()
	if data, err := os.ReadFile(filepath.Join(notes, "b.md")); err != nil || string(data) != "one\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// A hook asks the inbox that is open, and tells the program meanwhile.
func TestNotify_HookAsksTheInbox(t *testing.T) {
	p := notesProject(t)
	told := p.tellsTo("")
	x := p.inbox()
	event, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": p.dir, "hook_event_name": "PreToolUse", "permission_mode": "default",
		"tool_name": "Bash", "tool_input": map[string]string{"command": "make deploy"}, "tool_use_id": "one",
	})
	if err != nil {
		t.Fatal(err)
	}
	hook := p.assent("hook", "claude-code")
	hook.Stdin = bytes.NewReader(event)
	answer := make(chan string)
	go func() {
		out, err := hook.Output()
		answer <- fmt.Sprintf("%s %v", out, err)
	}()
	data, err := os.ReadFile(told)
	if err != nil || !bytes.Contains(data, []byte(`"tool":"shell"`)) {
		t.Errorf("told %q, %v", data, err)
	}
	x.picks("make deploy", "From: claude-code in ", "(hook, session ")
	x.types("y")
	if got := <-answer; !containsAny(got, `"permissionDecision":"allow"`) {
		t.Errorf("the hook answered %s", got)
	}
	x.sees("✓ approved", "Nothing waits · 1 answered")
	x.leaves()
}
