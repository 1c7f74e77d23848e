package files_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

type readResult struct {
	Content    string `json:"content"`
	Truncated  bool   `json:"truncated"`
	TotalChars int    `json:"total_chars"`
	Offset     int    `json:"offset"`
	CharsRead  int    `json:"chars_read"`
}

func decode[T any](t *testing.T, r tool.Result) T {
	t.Helper()
	var out T
	must(t, json.Unmarshal([]byte(r.Text), &out))
	return out
}

func TestReadParts(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "héllo wörld", "empty": ""})
	for _, c := range []struct {
		in   args
		want readResult
	}{
		{args{"path": "notes/a.md"}, readResult{"héllo wörld", false, 11, 0, 11}},
		{args{"path": "/notes//a.md", "max_chars": 5}, readResult{"héllo", true, 11, 0, 5}},
		{args{"path": "notes/a.md", "offset": 6}, readResult{"wörld", false, 11, 6, 5}},
		{args{"path": "notes/a.md", "offset": 6, "max_chars": 5}, readResult{"wörld", false, 11, 6, 5}},
		{args{"path": "notes/a.md", "offset": 2, "max_chars": 3}, readResult{"llo", true, 11, 2, 3}},
		{args{"path": "notes/a.md", "offset": 11}, readResult{"", false, 11, 11, 0}},
		{args{"path": "notes/a.md", "offset": 99}, readResult{"", false, 11, 99, 0}},
		{args{"path": "notes/empty"}, readResult{"", false, 0, 0, 0}},
	} {
		if got := decode[readResult](t, w.ok("read_file", c.in)); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.in, got, c.want)
		}
	}
	w.invalid("read_file", args{"path": "notes/a.md", "offset": -1}, "negative")
	w.invalid("read_file", args{"path": "notes/a.md", "max_chars": -1}, "negative")
	w.wantAsked(0)
}

func TestReadWhatCannotBeRead(t *testing.T) {
	w := newWorld(t, setup{
		tree: map[string]string{"p/b.exe": "x", "p/bin.md": "a\xff\x00", "p/long.md": "0123456789", "p/d/x.md": ""},
		roots: []roots.Root{{Name: "p", Host: "p", Suffixes: []string{".md"}, MaxFileBytes: 9},
			{Name: "shut", Host: "shut", Approval: verdicts(policy.VerdictBlock, roots.AccessRead), Reason: "not for you"}},
	})
	must(t, syscall.Mkfifo(w.dir+"/p/fifo.md", 0o644))
	w.blocked("read_file", args{"path": "p/b.exe"}, `".exe"`)
	w.blocked("read_file", args{"path": "p/long.md"}, "too large")
	w.blocked("read_file", args{"path": "q/x"}, "p, shut")
	w.blocked("read_file", args{"path": "shut/x"}, "not for you")
	w.blocked("read_file", args{"path": "p/../../x.md"}, "leads out")
	w.fails("read_file", args{"path": "p/none.md"}, "does not exist")
	w.fails("read_file", args{"path": "p/bin.md"}, "not text in UTF-8")
	w.fails("read_file", args{"path": "p/fifo.md"}, "neither a file nor a folder")
	w.invalid("read_file", args{"path": "p/long.md/x.md"}, "is a file")
	folder := newWorld(t, setup{tree: map[string]string{"p/d/x": ""}, roots: []roots.Root{{Name: "p", Host: "p"}}})
	folder.fails("read_file", args{"path": "p/d"}, "is a folder")
	folder.fails("read_file", args{"path": "p"}, "is a folder")
}

func TestLimitOfTheTools(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "12345"}, options: files.Options{MaxBytes: 4},
		roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite}}})
	w.blocked("read_file", args{"path": "p/a"}, "too large: 5 bytes")
	w.blocked("write_file", args{"path": "p/b", "content": "12345"}, "too large: 5 bytes")
}

func TestReadThatAsks(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a.md": "secret words\n"},
		roots: []roots.Root{{Name: "p", Host: "p", Approval: ask(roots.AccessRead), Source: "policy.yaml:3"}}})
	w.ok("read_file", args{"path": "p/a.md"})
	r, view := w.lastAsked()
	if r.Summary != "Read from p/a.md" || !strings.Contains(r.Why, "policy.yaml:3") {
		t.Errorf("%q because %q", r.Summary, r.Why)
	}
	if view.Kind != present.KindFile || view.Content != "secret words\n" || view.Language != "markdown" {
		t.Errorf("shown as %+v", view)
	}
	// Also that a file is missing is told only to who may look.
	w.answer = no
	if got := w.call("read_file", args{"path": "p/none"}); strings.Contains(got.Text, "exist") {
		t.Errorf("told: %s", got.Text)
	}
}

func TestSecretsAsk(t *testing.T) {
	w := notes(t, map[string]string{".env": "KEY=1\n", ".env.example": "KEY=\n"})
	w.ok("read_file", args{"path": "notes/.env.example"})
	w.wantAsked(0)
	w.answer = no
	if r := w.call("read_file", args{"path": "notes/.env"}); strings.Contains(r.Text, "KEY") {
		t.Errorf("told: %s", r.Text)
	}
	w.wantAsked(1)
}

func TestDenyRuleTellsNothing(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/x/a": "one"}, rules: []string{"deny read_file(p/x/**)"},
		roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite}}})
	for _, c := range []policy.Call{
		callOf("read_file", args{"path": "p/x/a"}), callOf("read_file", args{"path": "p/x/none"}),
		callOf("edit_file", args{"path": "p/x/a", "old_text": "two", "new_text": "z"}),
		callOf("edit_file", args{"path": "p/x/a", "old_text": "one", "new_text": "z"}),
		callOf("copy_file", args{"source": "p/x/a", "destination": "p/b"}),
	} {
		r := tool.Call(t.Context(), w.gate, c)
		if r.Outcome.State != policy.StateAutoDenied {
			t.Errorf("%s %s: %v %s", c.Tool, c.Arguments, r.Outcome.State, r.Text)
		}
	}
	w.wantAsked(0)
}
