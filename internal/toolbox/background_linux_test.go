package toolbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/snapshot"
	"github.com/assent-dev/assent/policy"
)

// A program that a command which somebody allowed started in the background goes on in its
// sandbox, however much it prints, until a call or the end of the session ends it.
func TestTheBackgroundGoesOn(t *testing.T) {
	w := newWorld(t, runningPolicy)
	mark := filepath.Base(w.top)
	begin := map[string]any{"command": "python3 -uc 'import time\nwhile True: print(\"" + mark + "\"); time.sleep(0.1)' & echo begun"}
	for _, end := range []func(){
		func() {
			w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "true", "end_background": true})
		},
		func() { must(t, w.box.Close()) },
	} {
		r := w.call(policy.ModeAsk, yes(""), "shell", begin)
		if !strings.Contains(r.Text, "still running in the sandbox: 1 process left in the background (python3)") {
			t.Fatalf("%s %v", r.Text, r.Err)
		}
		if r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "sleep 0.6"}); r.Err != nil || running(t, mark) == "" {
			t.Fatalf("it has ended: %s %v", r.Text, r.Err)
		}
		end()
		if left := running(t, mark); left != "" {
			t.Errorf("still running: %s", left)
		}
	}
}

// Also what runs only because its sandbox holds it: undo covers what it changes until it ends.
func TestTheBackgroundOfAHeldCommand(t *testing.T) {
	w := newWorld(t, free)
	mark := filepath.Base(w.top)
	r := w.shell("python3 -uc 'import os, time\nwhile not os.path.exists(\"go\"): print(\"" + mark + "\"); time.sleep(0.05)\nopen(\"late\", \"w\").write(\"x\")\nwhile True: time.sleep(1)' & echo begun > first")
	if !strings.Contains(r.Text, "still running in the sandbox: 1 process left in the background (python3)") || running(t, mark) == "" {
		t.Fatalf("%s %v", r.Text, r.Err)
	}
	must(t, os.WriteFile(w.top+"/proj/go", nil, 0o600))
	w.shell("until [ -e late ]; do :; done")
	must(t, w.box.Close())
	if left := running(t, mark); left != "" {
		t.Errorf("still running: %s", left)
	}
	records, err := w.snapshots.List(t.Context())
	must(t, err)
	later := slices.IndexFunc(records, func(r snapshot.Record) bool { return strings.HasPrefix(r.Command, "left in the background by: ") })
	if later < 0 {
		t.Fatalf("undo does not list it: %+v", records)
	}
	undone := func(c snapshot.Change) bool { return strings.HasSuffix(string(c.Path), "late") }
	if !slices.ContainsFunc(records[later].Changes, undone) {
		t.Errorf("undo does not cover what it made later: %+v", records[later].Changes)
	}
}

// Where a project is not a repository, a folder stands where one could be made. Go is told not to
// ask it for its state.
func TestGoIsToldOfNoRepository(t *testing.T) {
	w := newWorld(t, free)
	if r := w.shell("echo flags: $GOFLAGS"); !strings.Contains(r.Text, "flags: -buildvcs=false") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
	must(t, os.MkdirAll(w.top+"/proj/.git", 0o755))
	if r := w.shell("echo flags: $GOFLAGS"); !strings.Contains(r.Text, `"flags:\n"`) && !strings.Contains(r.Text, `flags:\n`) {
		t.Errorf("%s %v", r.Text, r.Err)
	}
}
