package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// agentFolder makes a folder with a policy and returns it and a function that lets an agent
// write there, as the steps say.
func agentFolder(t *testing.T) (dir string, play func(session string, steps ...agentStep)) {
	t.Helper()
	dir = t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	put("policy.yaml", "sandbox:\n  paths:\n    notes: {root: ./notes, mode: rw}\n")
	return dir, func(session string, steps ...agentStep) {
		t.Helper()
		var lines strings.Builder
		for _, s := range steps {
			line, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		put("calls.jsonl", lines.String())
		at := func(name string) string { return filepath.Join(dir, name) }
		if err := runAgent(context.Background(), at("state"), at("policy.yaml"), session, "ask", "redacted", at("calls.jsonl"), io.Discard); err != nil {
			t.Fatal(err)
		}
	}
}

func writing(path, answer string) agentStep {
	args, _ := json.Marshal(map[string]string{"path": path, "content": "x\n"})
	return agentStep{ID: path, Tool: "write_file", Args: args, Answer: answer}
}

// What any process decides is seen at once by one that follows.
// S32 Audit.
func TestAudit_Follow(t *testing.T) {
	dir, play := agentFolder(t)
	play("s1", writing("notes/a.md", "y"))
	c := assent(t, nil, "audit", "list", "--follow", "--json", "--state", filepath.Join(dir, "state"))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	lines := bufio.NewScanner(out)
	next := func(want policy.State, session string) {
		t.Helper()
		var r approval.Record
		for lines.Scan() {
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			if r.Kind == approval.EventEnded {
				break
			}
		}
		if r.State != want || r.Session != session {
			t.Fatalf("followed %s in %s, want %s in %s", r.State, r.Session, want, session)
		}
	}
	next(policy.StateApproved, "s1") // what was there
	for _, session := range []string{"s2", "s3"} {
		play(session, writing("notes/b.md", "n"))
		next(policy.StateDenied, session)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("an interrupted follower ended with %v", err)
	}
}

// At a terminal one key keeps a suggestion, and every other key does not.
// S33 Learn.
func TestLearn_OneKey(t *testing.T) {
	dir, play := agentFolder(t)
	for _, session := range []string{"s1", "s2", "s3"} {
		play(session, writing("notes/a.md", "y"), writing("notes/b.txt", "y"), writing("notes/c.toml", "y"))
	}
	state := filepath.Join(dir, "state")
	x := start(t, 100, 40, assent(t, nil, "rules", "suggest", "--state", state))
	asked := func(number int, words ...string) {
		t.Helper()
		x.until("the question", func() bool { return strings.Count(x.raw.String(), "Save it? [y/n/q]") == number && x.shows(words...) })
	}
	asked(1, "1. allow write_file(notes/a.md)")
	x.types("y")
	asked(2, ": allow write_file(notes/a.md)", "2. allow write_file(notes/b.txt)")
	x.types("\r") // Enter is no yes
	asked(3, "Press one key")
	x.types("n")
	asked(4, "3. allow write_file(notes/c.toml)")
	x.types("q")
	x.ends(0, "!: allow write_file(notes/b.txt)")
	out, err := assent(t, nil, "rules", "list", "--state", state).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "notes/a.md") || strings.Contains(string(out), "b.txt") || strings.Contains(string(out), "c.toml") {
		t.Errorf("kept are:\n%s(%v)", out, err)
	}
}

// In an editor at a terminal the person says yes to what changes.
// S30 Rules.
func TestRules_EditConfirmed(t *testing.T) {
	dir := t.TempDir()
	env := []string{"EDITOR=sed -i s/date/uptime/"}
	if out, err := assent(t, nil, "rules", "add", "allow shell(date)", "--state", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x := start(t, 100, 40, assent(t, env, "rules", "edit", "--state", dir))
	x.sees("~ allow shell(date): now allow shell(uptime)", "Save this? [y/n]")
	x.types("n")
	x.ends(1, "not confirmed", "nothing was changed; go on with:")
	x = start(t, 100, 40, assent(t, env, "rules", "edit", "--state", dir))
	x.sees("Save this? [y/n]")
	x.types("y")
	x.ends(0, "Saved the rules.")
}

// Bars and colours are for a terminal that has them.
// S32 Audit.
func TestAudit_StatsAtTerminal(t *testing.T) {
	dir, play := agentFolder(t)
	play("s1", writing("notes/a.md", "y"))
	state := filepath.Join(dir, "state")
	x := start(t, 60, 40, assent(t, nil, "audit", "stats", "--state", state))
	x.ends(0, "1 calls, 1 prompts", "██████████")
	if !strings.Contains(x.raw.String(), "\x1b[36m") {
		t.Error("there is no colour")
	}
	x = start(t, 60, 40, assent(t, []string{"NO_COLOR=1"}, "audit", "stats", "--state", state))
	x.ends(0, "1 calls, 1 prompts", "██████████")
	if strings.Contains(x.raw.String(), "\x1b[36m") {
		t.Error("there is colour in spite of NO_COLOR")
	}
}
