package files_test

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/roots"
)

func TestEdit(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\ntwo\nthree\n"})
	r := w.ok("edit_file", args{"path": "notes/a.md", "old_text": "two\nthree", "new_text": "2\n3\n4"})
	w.has("notes/a.md", "one\n2\n3\n4\n")
	q, view := w.lastAsked()
	if q.Summary != "Edit notes/a.md (+3 −2 lines)" || view.Kind != present.KindDiff {
		t.Errorf("%q, %+v", q.Summary, view)
	}
	if len(q.Acts) != 2 || q.Acts[0].Name != policy.ActReadFile || q.Acts[1].Name != policy.ActWriteFile {
		t.Errorf("acts %v", q.Acts)
	}
	if !strings.Contains(r.Text, "Undo id: ") {
		t.Errorf("told %q", r.Text)
	}
	w.clean()
}

func TestEditNeedsExactlyOneMatch(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "x y x y x\n", "b": "aaa"})
	w.fails("edit_file", args{"path": "notes/a.md", "old_text": "z", "new_text": "q"}, "0 times")
	w.fails("edit_file", args{"path": "notes/a.md", "old_text": "x", "new_text": "q"}, "3 times")
	w.fails("edit_file", args{"path": "notes/b", "old_text": "aa", "new_text": "q"}, "2 times")
	w.fails("edit_file", args{"path": "notes/none", "old_text": "x", "new_text": "q"}, "does not exist")
	w.fails("edit_file", args{"path": "notes", "old_text": "x", "new_text": "q"}, "is a folder")
	w.invalid("edit_file", args{"path": "notes/a.md", "old_text": "", "new_text": "q"}, "empty")
	w.invalid("edit_file", args{"path": "notes/a.md", "old_text": "x", "new_text": "x"}, "the same")
	w.has("notes/a.md", "x y x y x\n")
}

func TestEditOfALimitedFile(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "12345"}, roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite, MaxFileBytes: 6}}})
	w.blocked("edit_file", args{"path": "p/a", "old_text": "3", "new_text": "333"}, "too large")
	w.ok("edit_file", args{"path": "p/a", "old_text": "3", "new_text": "33"})
}

// Where the read asks, nothing about the match is said before the answer.
func TestEditOfWhatMayNotBeReadTellsNothing(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "password=1\n"}, roots: []roots.Root{
		{Name: "p", Host: "p", Mode: roots.ModeReadWrite, Approval: ask(roots.AccessRead, roots.AccessWrite)}}})
	w.answer = no
	texts := map[string]bool{}
	for _, old := range []string{"password=1", "password=2", "s", "\n"} {
		texts[w.call("edit_file", args{"path": "p/a", "old_text": old, "new_text": "q"}).Text] = true
	}
	texts[w.call("edit_file", args{"path": "p/none", "old_text": "x", "new_text": "q"}).Text] = true
	w.wantAsked(5)
	if len(texts) != 1 {
		t.Errorf("the answers differ: %v", texts)
	}
	w.answer = nil
	r := w.call("edit_file", args{"path": "p/a", "old_text": "password=2", "new_text": "q"})
	if !strings.Contains(r.Text, "0 times") {
		t.Errorf("told %q after a yes", r.Text)
	}
}

func TestEditIsCoveredByReadAndWrite(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "x"}, rules: []string{"allow write_file(p/**)"}, roots: []roots.Root{
		{Name: "p", Host: "p", Mode: roots.ModeReadWrite, Approval: ask(roots.AccessRead)}}})
	w.ok("edit_file", args{"path": "p/a", "old_text": "x", "new_text": "y"})
	w.wantAsked(1) // the read is not covered
	w.ok("write_file", args{"path": "p/a", "content": "z"})
	w.wantAsked(1)
}
