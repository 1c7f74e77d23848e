package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An asker is the hook of an agent that waits for an answer in the inbox.
type asker struct {
	cmd    *exec.Cmd
	out    bytes.Buffer
	ended  chan struct{}
	folder string
}

// asks begins a hook of an agent in a repository of its own, on a branch.
func (p *project) asks(agent, repository, branch, command string) *asker {
	p.t.Helper()
	folder := filepath.Join(p.dir, repository)
	if err := os.MkdirAll(filepath.Join(folder, "src"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	git(p.t, folder, "init", "-q", "-b", branch)
	event, err := json.Marshal(map[string]any{
		"session_id": repository + "-session", "cwd": filepath.Join(folder, "src"), "hook_event_name": "PreToolUse",
		"permission_mode": "default", "tool_name": "Bash", "tool_input": map[string]string{"command": command}, "tool_use_id": command,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	a := &asker{cmd: p.assent("hook", agent), ended: make(chan struct{}), folder: folder}
	a.cmd.Stdin, a.cmd.Stdout = bytes.NewReader(event), &a.out
	if err := a.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(a.ended)
		_ = a.cmd.Wait() // the status does not matter
	}()
	p.t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		<-a.ended
	})
	return a
}

// answers waits for the hook's answer, which is to have the words in it.
func (a *asker) answers(t *testing.T, words string) {
	t.Helper()
	<-a.ended
	if !strings.Contains(a.out.String(), words) {
		t.Errorf("the hook in %s answered %s, want %s", a.folder, &a.out, words)
	}
}

// Two agents ask in two repositories; the list tells them apart, and the right one goes on.
// S49 Who asks?
func TestWhoAsks(t *testing.T) {
	p := notesProject(t)
	x := p.inboxAt(80, 24)
	shop := p.asks("claude-code", "shop", "main", "make deploy")
	x.sees("1 request waiting", "claude-code shop (main)", "make deploy")
	blog := p.asks("codex", "blog", "fix/typo", "make publish")
	x.sees("2 requests waiting", "▸ 1 claude-code shop (main)", "2 codex blog (fix/typo)", "make publish")
	x.types("j\r") // the second one
	x.asked("make publish", "From: codex in "+blog.folder+" on branch fix/typo (hook, session blog-ses…")
	x.types("?")
	x.sees("Why it asks")
	x.types("q")
	x.asked("make publish", "[y] approve once")
	x.types("y")
	blog.answers(t, "{}") // Codex goes on unless it is told not to
	x.sees("✓ approved: shell", "1 request waiting", "▸ 1 claude-code")
	x.picks("make deploy", "From: claude-code in "+shop.folder+" on branch main")
	x.types("n")
	shop.answers(t, `"permissionDecision":"deny"`)
	x.sees("Nothing waits · 2 answered")
	x.leaves()
}

// inboxAt opens an inbox at a terminal of that size.
func (p *project) inboxAt(columns, rows uint16) *tty {
	p.t.Helper()
	x := start(p.t, columns, rows, p.assent("inbox"))
	x.sees("Nothing waits · 0 answered")
	return x
}

// A click chooses a row, a second one opens it; no click answers.
func TestInbox_Mouse(t *testing.T) {
	p := notesProject(t)
	x := p.inboxAt(80, 24)
	first := p.asks("claude-code", "shop", "main", "make deploy")
	x.sees("1 request waiting")
	second := p.asks("claude-code", "blog", "main", "make publish")
	x.sees("2 requests waiting")
	click := func(row int) { x.types(fmt.Sprintf("\x1b[<0;10;%dM\x1b[<0;10;%dm", row, row)) } // counted from 1
	click(4)
	x.sees("▸ 2 claude-code blog")
	click(4)
	x.asked("make publish")
	click(4)
	click(22)
	x.types("\x1b")
	x.sees("2 requests waiting")
	x.types("q")
	x.ends(0, "0 answered; 2 still waiting")
	for _, a := range []*asker{first, second} {
		select {
		case <-a.ended:
			t.Errorf("the hook in %s was answered: %s", a.folder, &a.out)
		default:
		}
	}
}

// What a hook asked that was killed is not pending any more, in no list and at once: its session
// lives on, and no inbox is open.
func TestPending_KilledAskerIsGone(t *testing.T) {
	p := notesProject(t)
	x := p.inboxAt(80, 24)
	killed, other := p.asks("claude-code", "shop", "main", "make deploy"), p.asks("claude-code", "blog", "main", "make publish")
	x.sees("2 requests waiting")
	x.types("q")
	x.ends(0)
	out := p.outputs("pending")
	for _, want := range []string{"AGENT", "claude-code", killed.folder, "main", "make deploy", other.folder, "make publish"} {
		if !strings.Contains(out, want) {
			t.Errorf("pending does not say %q:\n%s", want, out)
		}
	}
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-killed.ended
	began := time.Now()
	for _, command := range [][]string{{"pending"}, {"pending", "--json"}, {"inbox", "--list"}, {"inbox", "--json"}} {
		out := p.outputs(command...)
		if strings.Contains(out, "make deploy") || !strings.Contains(out, "make publish") {
			t.Errorf("%v after %v:\n%s", command, time.Since(began), out)
		}
	}
	var requests []struct {
		Origin struct{ Agent, Folder, Branch string }
	}
	if err := json.Unmarshal([]byte(p.outputs("pending", "--json")), &requests); err != nil || len(requests) != 1 {
		t.Fatalf("%+v, %v", requests, err)
	}
	if o := requests[0].Origin; o.Agent != "claude-code" || o.Folder != other.folder || o.Branch != "main" {
		t.Errorf("origin %+v", o)
	}
}

// outputs runs a command and returns what it prints.
func (p *project) outputs(args ...string) string {
	p.t.Helper()
	c := p.assent(args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		p.t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}
