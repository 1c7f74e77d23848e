//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWhatEndsAnAgentEndsItsCommands ends each agent while a command of it runs on the stage, as
// Ctrl-C does and so that it cannot do anything about it. The command ends, and so does what held it.
func TestWhatEndsAnAgentEndsItsCommands(t *testing.T) {
	for _, a := range agents {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			t.Run(a.name+"/"+s.String(), func(t *testing.T) {
				p := newStage(t)
				seconds := fmt.Sprint(100000 + freePort(t)) // nobody else sleeps so long
				a.setUp(p, startModel(t, "touch started; sleep "+seconds))
				p.assent("install", a.name, "--yes")
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				c := p.command(ctx, p.program(a.line[0]), a.line[1:]...)
				c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				var said strings.Builder
				c.Stdout, c.Stderr = &said, &said
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				if !until(ctx, func() bool { return exists(filepath.Join(p.project, "started")) }) {
					t.Errorf("the command did not start:\n%s", said.String())
				}
				_ = syscall.Kill(-c.Process.Pid, s) // it may have ended
				_ = c.Wait()                        // as it was told to
				p.wantGone(seconds)
				p.wantGone(p.project) // an argument of the process that holds commands
			})
		}
	}
}

// TestACommandIsStopped has Claude Code stop a command in the background, and Codex send one Ctrl-C.
func TestACommandIsStopped(t *testing.T) {
	for _, a := range agents {
		if a.name == "gemini" {
			continue // its model cannot
		}
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			script := "trap 'echo got-it > stopped.txt; exit 3' INT TERM; touch started; while :; do sleep 0.1; done"
			calls := map[string][]string{
				"claude-code": {
					`{"command":` + quote(script) + `,"run_in_background":true}`, `ToolSearch {"query":"select:TaskStop"}`,
					waitFor("started"), `TaskStop {"task_id":"$TASK"}`, waitFor("stopped.txt"),
				},
				"codex": {
					`{"cmd":` + quote(script) + `,"yield_time_ms":250}`, waitFor("started"),
					`write_stdin {"session_id":$SESSION,"chars":"\u0003","yield_time_ms":500}`, waitFor("stopped.txt"),
				},
			}[a.name]
			told := p.stage(a, nil, calls...)
			if text, err := os.ReadFile(filepath.Join(p.project, "stopped.txt")); string(text) != "got-it\n" {
				t.Errorf("the command was not told to end: %v, %q", err, told)
			}
		})
	}
}

// waitFor is a command that waits for a file.
func waitFor(file string) string {
	return "for i in $(seq 100); do [ -e " + file + " ] && break; sleep 0.1; done; ls " + file
}

// TestWhatIsTypedLater has Codex type into a command that it started in a terminal: no hook is called
// then, and nothing reads it on the stage. What the command prints comes at once.
func TestWhatIsTypedLater(t *testing.T) {
	p := newStage(t)
	told := p.stage(agents[1], nil, `{"cmd":"bash; echo ended; sleep 3; echo later","yield_time_ms":1000,"tty":true}`,
		`write_stdin {"session_id":$SESSION,"chars":"touch typed.txt\n","yield_time_ms":5000}`)
	if exists(filepath.Join(p.project, "typed.txt")) {
		t.Error("what was typed ran")
	}
	if !strings.Contains(told[0], "ended") || strings.Contains(told[0], "later") || !strings.Contains(told[1], "later") {
		t.Errorf("the model was told %q", told)
	}
}
