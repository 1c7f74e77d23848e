package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// growing are commands whose values grow without end, or whose text is as long as is read.
func growing() map[string]string {
	chain := func(first, next string) string {
		var b strings.Builder
		b.WriteString(first)
		for i := range 40 {
			fmt.Fprintf(&b, next, i+1, i)
		}
		return b.String()
	}
	return map[string]string{
		"a variable of itself":       "x=aaaaaaaa; " + strings.Repeat("x=$x$x; ", 30) + "echo $x",
		"ten times itself":           "x=a; " + strings.Repeat("x=$x$x$x$x$x$x$x$x$x$x; ", 12) + "echo $x",
		"variables of each other":    chain("x0=aaaaaaaa; ", "x%[1]d=$x%[2]d$x%[2]d; ") + "cat $x40",
		"exported variables":         chain("x0=aaaaaaaa; ", "export x%[1]d=$x%[2]d$x%[2]d; ") + "bash -c 'cat $x40'",
		"arrays":                     chain("a0=(x y); ", "a%[1]d=(\"${a%[2]d[@]}\" \"${a%[2]d[@]}\"); ") + "cat \"${a40[@]}\"",
		"words of variables":         chain("x0='a a '; ", "x%[1]d=\"$x%[2]d$x%[2]d\"; ") + "cat $x12 $x13 $x14 $x15 $x40",
		"parameters":                 "set -- a b c d; " + strings.Repeat(`set -- "$@" "$@" "$@" "$@"; `, 12) + `ls "$@"`,
		"parameters of functions":    chain(`f0() { ls "$@"; }; `, `f%[1]d() { f%[2]d "$@" "$@"; }; `) + "f40 a",
		"functions":                  chain("f0() { ls; }; ", "f%[1]d() { f%[2]d; f%[2]d; }; ") + "f40",
		"loops":                      "for i in {1..250}; do for j in {1..250}; do for k in {1..250}; do cat $i$j$k; done; done; done",
		"a loop over a long command": "for i in {1..250}; do echo '" + strings.Repeat("a", 60000) + "'; done",
		"a loop over a long script":  "for i in {1..250}; do bash -c '" + strings.Repeat("ls;", 20000) + "'; done",
		"braces":                     "echo {1..250}{1..250}{1..250}" + strings.Repeat("a", 60000),
		"many commands":              strings.Repeat("true; ", 10000),
		"many words":                 "cat " + strings.Repeat("a ", 32000),
		"many lines":                 strings.Repeat("cat a\n", 10000),
	}
}

// TestGrowingCommands: the hook answers them in little memory, and what it leaves in the
// record is bounded. Nothing ends it by a signal: the agent would run the call.
func TestGrowingCommands(t *testing.T) {
	program := build(t, t.TempDir())
	for name, text := range growing() {
		dir := t.TempDir()
		input, err := json.Marshal(map[string]any{
			"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t", "cwd": dir,
			"tool_input": map[string]string{"command": text},
		})
		if err != nil {
			t.Fatal(err)
		}
		state := filepath.Join(dir, "state")
		c := exec.Command("bash", "-c", `ulimit -d 200000; exec "$0" "$@"`, program, "claude-code", "--state", state)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "SHELL=/bin/bash"}
		c.Stdin = strings.NewReader(string(input))
		out, err := c.CombinedOutput()
		if status := c.ProcessState.ExitCode(); status != 0 || !strings.Contains(string(out), "permissionDecision\"") {
			t.Errorf("%s: it ended with %v: %.300s", name, err, out)
		}
		if size := sizeOf(t, state); size > 1<<20 {
			t.Errorf("%s: %d bytes are left in the state folder", name, size)
		}
	}
}

func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
