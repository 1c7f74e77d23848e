package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents/install"
)

// At a terminal install explains the two policies in five lines, and writes the one that is chosen.
func TestInstallAsksQuietOrCareful(t *testing.T) {
	for key, want := range map[string]string{"q": "policy: quiet", "c": "policy: careful", "\x1b": ""} {
		t.Run(key, func(t *testing.T) {
			c := assent(t, nil, "install", "claude-code")
			x := start(t, 110, 60, c)
			x.sees("Write it? [y/n]")
			x.types("y")
			x.sees("Commands run in a sandbox that holds", "Each change, and each command", "Quiet or careful? [q/c]")
			if got := strings.Count(install.Choices, "\n"); got != 5 {
				t.Errorf("it takes %d lines to explain, want 5", got)
			}
			x.types(key)
			x.ends(0)
			data, err := os.ReadFile(filepath.Join(c.Dir, "config", "assent", "config.yaml"))
			if want == "" && os.IsNotExist(err) {
				return
			}
			if err != nil || !strings.Contains(string(data), want) || want == "" {
				t.Errorf("the config is %q (%v), want %q", data, err, want)
			}
		})
	}
}

// A quiet project with the programs as they are shipped: the first hook has a sandbox tried and
// notes the result, later ones only read it.
func TestTheHookTriesASandboxOnce(t *testing.T) {
	e := newEdited(t, "")
	bin := filepath.Join(e.top, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	main, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"assent": main, "assent-hook": e.hook} {
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(bin, name), data, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e.hook = filepath.Join(bin, "assent-hook")
	e.config("hook: {policy: quiet}\n")
	// What is right depends on the machine: doctor knows.
	doctor := exec.Command(filepath.Join(bin, "assent"), "sandbox", "doctor")
	doctor.Env = e.env()
	works := doctor.Run() == nil
	answer := `"ask"`
	if works {
		answer = `"allow"`
	}
	e.event("claude-code", "PreToolUse", "t1", "Write", writeMine(e.dir), answer)
	note := filepath.Join(e.top, "state", "assent", "sandbox-works.json")
	first, err := os.Stat(note)
	if err != nil {
		t.Fatal(err)
	}
	e.event("claude-code", "PreToolUse", "t2", "Write", writeMine(e.dir), answer)
	if second, err := os.Stat(note); err != nil || !os.SameFile(first, second) {
		t.Errorf("the second hook had a sandbox tried again: %v", err)
	}

	// A note that somebody else could have written does not count, and one about another machine
	// does not either: a sandbox is tried again.
	for _, text := range []string{`{"machine":"another"}`, "nonsense"} {
		if err := os.WriteFile(note, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e.event("claude-code", "PreToolUse", "t3"+text, "Write", writeMine(e.dir), answer)
		if data, err := os.ReadFile(note); err != nil || string(data) == text {
			t.Errorf("the note is %s (%v)", data, err)
		}
	}

	// Without assent beside it the hook knows nothing, is careful and says so.
	if err := os.Remove(filepath.Join(bin, "assent")); err != nil {
		t.Fatal(err)
	}
	e.event("claude-code", "PreToolUse", "t4", "Write", writeMine(e.dir), `"ask"`)
	e.event("claude-code", "PreToolUse", "t5", "Write", writeMine(e.dir), "assent: careful, although your config.yaml says hook.policy: quiet, because no sandbox holds: assent is not beside assent-hook")
}

func (e *edited) config(text string) {
	e.t.Helper()
	dir := filepath.Join(e.top, "config", "assent")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// status counts what waits, and tells whether somebody is there to answer.
func TestStatusTellsWhatWaits(t *testing.T) {
	e := newEdited(t, "")
	c := e.waits(e.inbox())
	defer func() {
		_ = c.Process.Kill() // nobody answers it
		_ = c.Wait()
	}()
	if out := e.assent(0, "status"); !strings.Contains(out, "Waiting     1 request; an inbox is open\n") {
		t.Errorf("it says %s", out)
	}
}
