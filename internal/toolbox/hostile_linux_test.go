package toolbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
)

// What a command does to outlive, fill or flood is ended and reported through the shell
// tool itself, and the next command works.
func TestHostileCommands(t *testing.T) {
	w := newWorld(t, free, func(h *toolbox.Hold) {
		h.Profile.Limits.Tmp, h.Profile.Limits.FileSize, h.Profile.Limits.OpenFiles = 1<<20, 4<<20, 256
	})
	mark := filepath.Base(w.top)
	for _, tt := range []struct {
		name, command string
		timeout       float64
		says          string
	}{
		{"forks into the background", "(setsid -f sh -c ': > there; sleep 300; : MARK') ; until [ -e there ]; do :; done; rm there; echo left", 0, `"note":"ended with the command: `},
		{"ignores signals", "trap '' TERM INT HUP QUIT; while :; do sleep 1; done; : MARK", 0.5, `"timed_out":true`},
		{"fills its private /tmp", "head -c 50000000 /dev/zero > /tmp/big", 0, "No space left"},
		{"passes the file size limit", "head -c 50000000 /dev/zero > big", 0, "a file larger than the sandbox's limit"},
		{"prints 1 GB", "head -c 1000000000 /dev/zero", 0, "ended: it printed too much"},
		{"opens 10,000 files", `python3 -c 'l=[open("/dev/null") for _ in range(10000)]'`, 0, "Too many open files"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := map[string]any{"command": strings.ReplaceAll(tt.command, "MARK", mark), "timeout": tt.timeout}
			if r := w.call(policy.ModeAsk, yes(""), "shell", args); !strings.Contains(r.Text, tt.says) {
				t.Errorf("%.400s %v", r.Text, r.Err)
			}
			if left := running(t, mark); left != "" {
				t.Errorf("still running: %s", left)
			}
			if r := w.shell("echo next"); !strings.Contains(r.Text, "next") {
				t.Errorf("the next command: %s %v", r.Text, r.Err)
			}
		})
	}
	if told := w.refusals(); len(told) != 1 || !strings.HasPrefix(told[0], "ended with the command: ") {
		t.Errorf("the person was told %q", told)
	}
	if entries, err := os.ReadDir(w.top + "/proj"); err != nil || len(entries) > 1 { // big
		t.Errorf("left in the project: %v %v", entries, err)
	}
}

// running returns the command line of a process that has the mark in it.
func running(t *testing.T, mark string) string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, file := range lines {
		if text, _ := os.ReadFile(file); strings.Contains(string(text), mark) && !strings.Contains(string(text), "inner") {
			return string(text)
		}
	}
	return ""
}
