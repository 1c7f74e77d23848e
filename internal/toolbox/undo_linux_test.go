package toolbox_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/snapshot"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

var undoWord = regexp.MustCompile(`Undo id: ([a-z2-7]{10})\.`)

// undone undoes what a result says, and returns the list of what is kept.
func (w *world) undone(r tool.Result) {
	w.t.Helper()
	got, ok := r.Value.(shell.Result)
	id := undoWord.FindStringSubmatch(got.Note + r.Text)
	if id == nil {
		w.t.Fatalf("no undo id: %v %+v %s", ok, got, r.Text)
	}
	s := &snapshot.Store{Dir: w.top + "/state/undo", State: w.top + "/state", Git: "/usr/bin/git"}
	p, err := s.Plan(w.t.Context(), id[1], w.box.Roots)
	must(w.t, err)
	must(w.t, p.Apply(context.Background()))
	if len(p.Kept) > 0 {
		w.t.Errorf("%q", p.Kept)
	}
}

// A canceller is a person who interrupts a command once it has said something.
type canceller context.CancelFunc

func (c canceller) Write(p []byte) (int, error) {
	c()
	return len(p), nil
}

// Who watches a command is told its last line, whole, so that it can be shown while the command runs.
func TestWhatACommandPrintsIsToldInLines(t *testing.T) {
	w := newWorld(t, runningPolicy)
	g, err := tool.Guard(approval.Config{Mode: policy.ModeAsk, Approver: yes(""), Recorder: w, Session: "s", Policy: w.box.Policy.Rules}, w.box.Tools...)
	must(t, err)
	defer g.Close()
	var seen bytes.Buffer
	tool.Call(tool.WithProgress(t.Context(), &seen), g, policy.Call{ID: "1", Tool: "shell", Arguments: []byte(`{"command":"echo one; /bin/echo two"}`)})
	if got := seen.String(); !strings.HasSuffix("\n"+got, "\ntwo\n") {
		t.Errorf("told %q", got)
	}
}

func (w *world) content(name string) string {
	data, err := os.ReadFile(w.top + "/proj/" + name)
	if err != nil {
		return "none"
	}
	return string(data)
}

// Commands that run in the sandbox can be undone: known ones, opaque ones, one that failed,
// one that was ended by its time limit, and one whose caller went away.
func TestCommandsAreUndone(t *testing.T) {
	w := newWorld(t, runningPolicy)
	w.write("proj/a", "one\n")
	w.write("proj/script.sh", "echo two > a; echo new > b; rm -f c; mkdir -p d; echo e > d/e\n")
	w.write("proj/c", "three\n")
	for name, command := range map[string]string{
		"known":     "echo two > a && echo new > b && rm -f c && mkdir -p d && echo e > d/e",
		"opaque":    "sh ./script.sh",
		"failing":   "sh ./script.sh; exit 3",
		"killed":    "sh ./script.sh; kill -9 $$",
		"timed out": "sh ./script.sh; sleep 100",
	} {
		args := map[string]any{"command": command}
		if name == "timed out" {
			args["timeout"] = 0.5
		}
		r := w.call(policy.ModeAsk, yes(""), "shell", args)
		if got := w.content("a") + w.content("b") + w.content("c") + w.content("d/e"); got != "two\nnew\nnonee\n" {
			t.Fatalf("%s: %q: %+v %s", name, got, r.Value, r.Text)
		}
		w.undone(r)
		if got := w.content("a") + w.content("b") + w.content("c") + w.content("d/e"); got != "one\nnonethree\nnone" {
			t.Errorf("%s: %q", name, got)
		}
		if _, err := os.Stat(w.top + "/proj/d"); err == nil {
			t.Errorf("%s: the folder is still there", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g, err := tool.Guard(approval.Config{Mode: policy.ModeAsk, Approver: yes(""), Recorder: w, Session: "s", Policy: w.box.Policy.Rules}, w.box.Tools...)
	must(t, err)
	defer g.Close()
	ctx = tool.WithProgress(ctx, canceller(cancel))
	r := tool.Call(ctx, g, policy.Call{ID: "1", Tool: "shell", Arguments: []byte(`{"command":"sh ./script.sh; echo done; sleep 100"}`)})
	if w.content("d/e") == "none" {
		t.Fatalf("it did not run: %+v %s", r.Value, r.Text)
	}
	if r.Stage != approval.StageCancelled || !strings.Contains(r.Text, "[CANCELLED] shell was stopped before it finished") ||
		!strings.Contains(r.Text, "undo id of what it changed: ") {
		t.Errorf("a cancelled command is %s: %s", r.Stage, r.Text)
	}
	s := &snapshot.Store{Dir: w.top + "/state/undo"}
	records, err := s.List(t.Context())
	must(t, err)
	if len(records) == 0 || !strings.Contains(records[0].Command, "sleep 100") || records[0].Interrupted {
		t.Fatalf("%+v %s", records, r.Text)
	}
	w.undone(tool.Result{Text: "Undo id: " + records[0].ID + "."})
	if got := w.content("a") + w.content("b"); got != "one\nnone" {
		t.Errorf("cancelled: %q", got)
	}
}

// A command does not run if what it may change cannot be kept.
func TestNotRunIfNotKept(t *testing.T) {
	w := newWorld(t, runningPolicy)
	w.write("proj/a", "one\n")
	w.write("state/undo", "a file where the store would be\n")
	r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "echo two > a"})
	if !strings.Contains(r.Text, "the command was not run: the files that it may change cannot be saved for undo; make room or set undo: off in the policy") || w.content("a") != "one\n" {
		t.Errorf("%q %s", w.content("a"), r.Text)
	}
	if r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "cat a"}); !strings.Contains(r.Text, "one") {
		t.Errorf("a command that only reads: %s", r.Text)
	}
}

// A worker that another one called has undo too, and only in its own roots.
func TestWorkersCommandsAreUndone(t *testing.T) {
	w := newWorld(t, runningPolicy)
	w.write("proj/sub/a", "one\n")
	caller := w.box
	w.box = w.open(strings.Replace(runningPolicy, "TOP/proj", "TOP/proj/sub", 1), caller)
	r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "echo two > a"})
	if w.content("sub/a") != "two\n" {
		t.Fatalf("%+v %s", r.Value, r.Text)
	}
	w.undone(r)
	if w.content("sub/a") != "one\n" {
		t.Error("not undone")
	}
}

// Sandbox first needs undo: it is enough for a worker under a caller with such a policy too,
// and not where what a command changes cannot be undone, unless the policy says so.
func TestSandboxFirstNeedsUndo(t *testing.T) {
	const command = "python3 -c 'print(1)'"
	w := newWorld(t, free)
	caller := w.box
	w.box = w.open(free, caller)
	if r := w.shell(command); !r.Outcome.Runs() {
		t.Errorf("a worker: %s", r.Text)
	}
	w.snapshots = &snapshot.Store{Dir: w.top + "/state/undo", MaxFiles: 1}
	w.write("proj/a", "")
	w.write("proj/b", "")
	w.box = w.open(free, nil)
	if r := w.shell(command); r.Outcome.Runs() {
		t.Errorf("too many files: %s", r.Text)
	}
	if r := w.shell("echo x > a"); !r.Outcome.Runs() {
		t.Errorf("known: %s", r.Text)
	}
	w.box = w.open(free+"undo: off\n", nil)
	if r := w.shell(command); !r.Outcome.Runs() {
		t.Errorf("undo: off: %s", r.Text)
	}
}
