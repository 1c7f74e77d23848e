package files_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/files"
)

// A file that another program holds open is a failure that says so. Nobody is
// asked again: it would be the same question.
func TestFileHeldOpenForWriting(t *testing.T) {
	for _, c := range []policy.Call{
		callOf("write_file", args{"path": "notes/a", "content": "two"}),
		callOf("edit_file", args{"path": "notes/a", "old_text": "one", "new_text": "two"}),
		callOf("delete_file", args{"path": "notes/a"}),
		callOf("move_file", args{"source": "notes/a", "destination": "notes/d/b"}),
	} {
		w := notes(t, map[string]string{"a": "one"})
		f, err := os.OpenFile(w.dir+"/notes/a", os.O_WRONLY, 0)
		must(t, err)
		r := w.call(c.Tool, decodeArgs(t, c))
		if !errors.Is(r.Err, files.ErrBusy) || !strings.Contains(r.Text, "open for writing") {
			t.Errorf("%s: %v", c.Tool, r.Err)
		}
		w.wantAsked(1)
		w.has("notes/a", "one")
		w.has("notes/d", "-")
		w.clean()
		if entries, err := w.undo.List(t.Context()); err != nil || len(entries) != 0 {
			t.Errorf("%s: kept %v, %v", c.Tool, entries, err)
		}
		must(t, f.Close())
		w.ok(c.Tool, decodeArgs(t, c))
	}
}
