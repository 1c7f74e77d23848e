package files_test

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// turn reviews calls on top of each other, answers them, and runs them.
func (w *world) turn(answers []bool, calls ...approval.Call) []tool.Result {
	w.t.Helper()
	for i := range calls {
		calls[i].ID = string(rune('a' + i))
	}
	b := w.gate.Review(w.t.Context(), calls...)
	for i, r := range b.Pending() {
		view, err := r.View(w.t.Context())
		must(w.t, err)
		w.asked, w.views = append(w.asked, r), append(w.views, view)
		d := r.Approve("")
		if !answers[i] {
			d = r.Deny("")
		}
		must(w.t, b.Resolve(w.t.Context(), d))
	}
	results, _ := tool.Finish(w.t.Context(), w.gate, b)
	return results
}

func TestLaterCallsAreShownOnTopOfEarlierOnes(t *testing.T) {
	w := notes(t, map[string]string{"a": "one\n"})
	results := w.turn([]bool{true, true, true, true},
		callOf("edit_file", args{"path": "notes/a", "old_text": "one", "new_text": "two"}),
		callOf("edit_file", args{"path": "notes/./a", "old_text": "two", "new_text": "three"}),
		callOf("move_file", args{"source": "notes/a", "destination": "notes/b"}),
		callOf("write_file", args{"path": "notes/a", "content": "new\n"}),
		callOf("read_file", args{"path": "notes/b"}))
	for _, r := range results {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Tool, r.Err)
		}
	}
	if !strings.Contains(w.views[1].Content, "-two\n+three\n") {
		t.Errorf("the second edit is shown as %s", w.views[1].Content)
	}
	if w.asked[3].Summary != "Create notes/a (4 bytes, 1 line)" {
		t.Errorf("the write is shown as %q", w.asked[3].Summary)
	}
	w.wantAsked(4)
	w.has("notes/a", "new\n")
	w.has("notes/b", "three\n")
}

func TestLaterCallIsAskedAgainIfAnEarlierOneIsDenied(t *testing.T) {
	w := notes(t, map[string]string{"a": "one\n"})
	results := w.turn([]bool{false, true},
		callOf("write_file", args{"path": "notes/a", "content": "two\n"}),
		callOf("write_file", args{"path": "notes/a", "content": "three\n"}))
	if results[1].Outcome.State != approval.Pending {
		t.Errorf("the second call is %v: %s", results[1].Outcome.State, results[1].Text)
	}
	w.has("notes/a", "one\n")
}
