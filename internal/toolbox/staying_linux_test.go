package toolbox_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
)

// A program that a command which somebody allowed started in the background goes on in its
// sandbox, however much it prints, until a call or the end of the session ends it.
func TestTheBackgroundGoesOn(t *testing.T) {
	w := newWorld(t, runningPolicy)
	mark := filepath.Base(w.top)
	begin := map[string]any{"command": "python3 -uc 'import time\nwhile True: print(\"" + mark + "\"); time.sleep(0.1)' & echo begun"}
	for _, end := range []func(){
		func() {
			w.call(approval.ModeAsk, yes(""), "shell", map[string]any{"command": "true", "end_background": true})
		},
		func() { must(t, w.box.Close()) },
	} {
		r := w.call(approval.ModeAsk, yes(""), "shell", begin)
		if !strings.Contains(r.Text, "still running in the sandbox: 1 process left in the background (python3)") {
			t.Fatalf("%s %v", r.Text, r.Err)
		}
		if r := w.call(approval.ModeAsk, yes(""), "shell", map[string]any{"command": "sleep 0.6"}); r.Err != nil || running(t, mark) == "" {
			t.Fatalf("it has ended: %s %v", r.Text, r.Err)
		}
		end()
		if left := running(t, mark); left != "" {
			t.Errorf("still running: %s", left)
		}
	}
}

// What runs only because its sandbox holds it ends with its command: undo would not cover it.
func TestTheBackgroundOfAHeldCommandEnds(t *testing.T) {
	w := newWorld(t, free)
	mark := filepath.Base(w.top)
	r := w.shell("python3 -uc 'import time\nopen(\"there\", \"w\")\nwhile True: print(\"" + mark + "\"); time.sleep(0.1)' & until [ -e there ]; do :; done")
	if !strings.Contains(r.Text, "ended with the command: 1 process left in the background (python3)") || running(t, mark) != "" {
		t.Errorf("%s %v", r.Text, r.Err)
	}
}
