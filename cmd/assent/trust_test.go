package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// trusting is the program at a terminal, asked to trust a worker with a free folder.
func trusting(t *testing.T, state string) *tty {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.worker")
	if err := os.WriteFile(file, []byte("---\nsandbox: {paths: {notes: {mode: rw, approval: {write: allow}}}}\n---\nhi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := start(t, 120, 24, assent(t, nil, "trust", "--state", state, file))
	x.sees("would allow:", "write without asking", "Trust it? [y/n]")
	return x
}

// kept reports how many files were trusted.
func kept(t *testing.T, state string) int {
	t.Helper()
	records, err := filepath.Glob(filepath.Join(state, "trust", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(records)
}

func TestTrustIsAYes(t *testing.T) {
	state := t.TempDir()
	x := trusting(t, state)
	x.types("y")
	x.ends(0, "is now trusted")
	if kept(t, state) != 1 {
		t.Error("it was not kept")
	}
}

// Whatever else is pressed is no yes.
func TestTrustIsNothingElse(t *testing.T) {
	for name, keys := range map[string]string{"no": "n", "end of input": "\x04", "interrupt": "\x03", "escape": "\x1b"} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			x := trusting(t, state)
			x.types(keys)
			x.ends(3, "it is not trusted")
			if kept(t, state) != 0 {
				t.Error("it is trusted")
			}
		})
	}
}

// What is neither yes nor no answers nothing, and it is asked again: y and Enter that arrive
// together too.
func TestTrustIsAskedAgain(t *testing.T) {
	for name, keys := range map[string]string{"enter": "\r", "another key": "j", "two keys": "yy", "y and enter": "y\r", "y and newline": "y\n"} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			x := trusting(t, state)
			x.types(keys)
			x.until("the question again", func() bool {
				_, again, ok := strings.Cut(x.raw.String(), "Press one key: y or n.")
				return ok && strings.Contains(again, "Trust it? [y/n]")
			})
			if kept(t, state) != 0 {
				t.Error("it is trusted")
			}
			x.types("y")
			x.ends(0, "is now trusted")
		})
	}
}
