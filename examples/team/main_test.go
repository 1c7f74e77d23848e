//go:build all && linux

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// demo is the command of the README, with a temporary folder of its own, which must be empty in the end.
func demo(t *testing.T) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("", "team-")
	if err == nil {
		err = os.Chmod(dir, 0o711) // PostgreSQL goes through it, as another user
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := filepath.Glob(filepath.Join(dir, "assent-team-*")); err != nil || len(left) > 0 {
			t.Errorf("it left %q behind (%v)", left, err)
		}
		commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Error(err)
		}
		for _, file := range commands {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), dir) {
				t.Errorf("%s still runs: %q", file, text)
			}
		}
		_ = os.RemoveAll(dir)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "go", "run", ".")
	c.Env = append(os.Environ(), "TMPDIR="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that it can be interrupted as at a terminal
	return c
}

// S60 On the phone, S61 Two of three, S62 Server away and S63 Prove it, with the real programs.
func TestTheDemo(t *testing.T) {
	out, err := demo(t).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for _, line := range []string{
		"Two replicas of assent serve run", "Every machine has it and has checked it",
		"On the phone", "The question is on Ann's phone", "-pears 4", "+pears 5", "A stolen session cannot say yes", "The call ran",
		"Two of three", "2 of oncall, not Bob", "can only deny this", "Bob is behind the agent", "The database is still there",
		"1 more of oncall needed", "The database is gone", "It ran once. The record has two signatures: Ann (p_ann, passkey) and Cleo (p_cleo, passkey)",
		"The server is away", "notes/today.md is written", "where Cleo approved it", "nobody at the machine can approve it",
		"was last confirmed 25h ago", "reaches Ann and Bob by itself", "it runs, once", "Every record of the time without a server",
		"Prove it", "are in the server's log", "is in the log, as it was recorded", "it grew from", "the proof does not hold", "S63",
	} {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("%q is not there, or not in its place:\n%s", line, out)
		}
		rest = after
	}
}

// Ctrl-C in the middle ends it, and leaves nothing.
func TestTheDemoIsInterrupted(t *testing.T) {
	c := demo(t)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "Three machines have joined") {
			if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	}
	if err := c.Wait(); err == nil {
		t.Error("it ended well though it was interrupted")
	}
}
