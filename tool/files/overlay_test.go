package files_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// turn reviews calls on top of each other, answers them, and runs them.
func (w *world) turn(answers []bool, calls ...policy.Call) []tool.Result {
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
	if results[1].Outcome.State != policy.StatePending {
		t.Errorf("the second call is %v: %s", results[1].Outcome.State, results[1].Text)
	}
	w.has("notes/a", "one\n")
}

// asking is a world with one root of which everything asks.
func asking(t *testing.T, tree map[string]string) *world {
	t.Helper()
	return newWorld(t, setup{tree: tree, roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite, Approval: ask(roots.AccessRead)}}})
}

// Lists, searches and infos are shown as they will be when the earlier calls of
// the turn have run, and then they are that.
func TestListsAndSearchesAreShownOnTopOfEarlierCalls(t *testing.T) {
	w := asking(t, map[string]string{"p/a": "needle", "p/b": "needle", "p/d/c": "needle"})
	results := w.turn([]bool{true, true, true, true, true, true, true},
		callOf("write_file", args{"path": "p/new/x", "content": "needle"}),
		callOf("delete_file", args{"path": "p/a"}),
		callOf("move_file", args{"source": "p/b", "destination": "p/d/b"}),
		callOf("list_files", args{"path": "p"}),
		callOf("list_files", args{"path": "p/new"}),
		callOf("search_files", args{"pattern": "needle", "path": "p"}),
		callOf("file_info", args{"path": "p/new/x"}))
	for _, r := range results {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Tool, r.Err)
		}
	}
	if got := w.views[3].Content; got != "p/d/b\np/d/c\np/new/x" {
		t.Errorf("the list is shown as %q", got)
	}
	if got := decode[listResult](t, results[3]); !slices.Equal(got.Files, []string{"p/d/b", "p/d/c", "p/new/x"}) {
		t.Errorf("%+v", got)
	}
	if w.views[4].Content != "p/new/x" || !strings.Contains(w.views[5].Content, "3 files") {
		t.Errorf("shown as %q, %q", w.views[4].Content, w.views[5].Content)
	}
	if got := decode[searchResult](t, results[5]); len(got.Matches) != 3 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(results[6].Text, `"size":6`) {
		t.Errorf("told %s", results[6].Text)
	}
}

// What an earlier call would make, take away or make impossible is known.
func TestCallsOnWhatAnEarlierOneMakes(t *testing.T) {
	for name, c := range map[string]struct {
		first, second policy.Call
		want          string
	}{
		"a folder twice": {callOf("make_dir", args{"path": "notes/d"}), callOf("make_dir", args{"path": "notes/d"}), "exists already"},
		"a file below a new file": {callOf("write_file", args{"path": "notes/f", "content": "x"}),
			callOf("write_file", args{"path": "notes/f/g", "content": "x"}), "is a file and not a folder"},
		"a file on a new folder": {callOf("make_dir", args{"path": "notes/d"}), callOf("write_file", args{"path": "notes/d", "content": "x"}), "is a folder"},
		"a folder on the way":    {callOf("write_file", args{"path": "notes/d/x", "content": "x"}), callOf("make_dir", args{"path": "notes/d"}), "exists already"},
	} {
		w := notes(t, nil)
		b := w.gate.Review(t.Context(), c.first, c.second)
		if got := b.Outcome(1); got.State != policy.StateFree || len(b.Pending()) != 1 {
			t.Errorf("%s: the second is %v, and %d are asked", name, got.State, len(b.Pending()))
		}
		must(t, b.Resolve(t.Context(), b.Pending()[0].Approve("")))
		results, _ := tool.Finish(t.Context(), w.gate, b)
		if !strings.Contains(results[1].Text, c.want) {
			t.Errorf("%s: %s", name, results[1].Text)
		}
	}
}

// A list that was shown with a file that then was denied is asked again.
func TestAListIsAskedAgainIfAnEarlierCallIsDenied(t *testing.T) {
	w := asking(t, map[string]string{"p/a": ""})
	results := w.turn([]bool{false, true, true},
		callOf("write_file", args{"path": "p/b", "content": "x"}),
		callOf("list_files", args{"path": "p"}),
		callOf("search_files", args{"path": "p", "pattern": "x"}))
	if results[1].Outcome.State != policy.StatePending {
		t.Errorf("%v: %s", results[1].Outcome.State, results[1].Text)
	}
}
