package files_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

func TestDelete(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n", "d/x": ""})
	w.ok("delete_file", args{"path": "notes/a.md"})
	w.has("notes/a.md", "-")
	if q, view := w.lastAsked(); q.Summary != "Delete notes/a.md (4 bytes, 1 line)" || view.Content != "one\n" {
		t.Errorf("%q, %+v", q.Summary, view)
	}
	w.fails("delete_file", args{"path": "notes/a.md"}, "does not exist")
	w.fails("delete_file", args{"path": "notes/d"}, "is a folder")
	w.clean()
	s := newWorld(t, setup{tree: map[string]string{"p/a.exe": ""}, roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite, Suffixes: []string{".md"}}}})
	s.blocked("delete_file", args{"path": "p/a.exe"}, `".exe"`)
}

func TestDeletingARootIsForAPerson(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"f.txt": "x"}, mode: policy.ModeApproveAll, roots: []roots.Root{
		{Name: "f", Host: "f.txt", Mode: roots.ModeReadWrite, Approval: verdicts(policy.VerdictFree, roots.AccessWrite, roots.AccessDelete)}}})
	w.ok("write_file", args{"path": "f", "content": "y"})
	w.wantAsked(0)
	w.answer = no
	w.call("delete_file", args{"path": "f"})
	w.wantAsked(1)
	if q, _ := w.lastAsked(); !q.PersonOnly {
		t.Error("not for a person only")
	}
	w.has("f.txt", "y")
}

func TestChangedMeanwhile(t *testing.T) {
	for _, call := range []policy.Call{
		callOf("delete_file", args{"path": "notes/a"}),
		callOf("move_file", args{"source": "notes/a", "destination": "notes/b"}),
		callOf("copy_file", args{"source": "notes/a", "destination": "notes/b"}),
		callOf("edit_file", args{"path": "notes/a", "old_text": "o", "new_text": "x"}),
	} {
		w := notes(t, map[string]string{"a": "one\n"})
		w.meanwhile = func() {
			if len(w.asked) == 1 {
				w.writeHost("notes/a", "two\n")
			}
		}
		w.answer = func(r *approval.Request) approval.Decision {
			if len(w.asked) == 1 {
				return r.Approve("")
			}
			return r.Deny("")
		}
		w.call(call.Tool, decodeArgs(t, call))
		w.wantAsked(2)
		w.has("notes/a", "two\n")
		w.has("notes/b", "-")
	}
}

// A copy or move to where something was put in the meantime leaves both alone.
func TestDestinationTakenMeanwhile(t *testing.T) {
	for _, tool := range []string{"move_file", "copy_file"} {
		w := notes(t, map[string]string{"a": "one\n"})
		w.meanwhile = func() { w.writeHost("notes/b", "somebody's\n") }
		if r := w.call(tool, args{"source": "notes/a", "destination": "notes/b"}); !strings.Contains(r.Text, "exists already") {
			t.Errorf("%s: %s", tool, r.Text)
		}
		w.has("notes/a", "one\n")
		w.has("notes/b", "somebody's\n")
		w.clean()
	}
}

// A move does not make readable elsewhere what may not be read where it is.
func TestMoveOfWhatMayNotBeRead(t *testing.T) {
	free := map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictFree, roots.AccessWrite: policy.VerdictFree, roots.AccessDelete: policy.VerdictFree}
	unread := map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictBlock, roots.AccessWrite: policy.VerdictFree, roots.AccessDelete: policy.VerdictFree}
	w := newWorld(t, setup{tree: map[string]string{"notes/a.md": "one\n", "drafts/x": ""}, roots: []roots.Root{
		{Name: "notes", Host: "notes", Mode: roots.ModeReadWrite, Approval: unread},
		{Name: "drafts", Host: "drafts", Mode: roots.ModeReadWrite, Approval: free},
	}})
	w.blocked("move_file", args{"source": "notes/a.md", "destination": "drafts/a.md"}, "blocked by policy")
	w.has("notes/a.md", "one\n")
	w.has("drafts/a.md", "-")
}

func TestMove(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n", "b.md": "two\n"})
	must(t, os.Chmod(w.dir+"/notes/a.md", 0o640))
	w.ok("move_file", args{"source": "notes/a.md", "destination": "notes/new/c.md"})
	w.has("notes/a.md", "-")
	w.has("notes/new/c.md", "one\n")
	if info, err := os.Stat(w.dir + "/notes/new/c.md"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info, err)
	}
	q, _ := w.lastAsked()
	if q.Summary != "Move notes/a.md to notes/new/c.md (4 bytes, 1 line)" || len(q.Acts) != 2 ||
		q.Acts[0].String() != "delete_file(notes/a.md)" || q.Acts[1].String() != "write_file(notes/new/c.md)" {
		t.Errorf("%q, %v", q.Summary, q.Acts)
	}
	w.fails("move_file", args{"source": "notes/b.md", "destination": "notes/new/c.md"}, "exists already")
	w.fails("move_file", args{"source": "notes/b.md", "destination": "notes/new"}, "exists already")
	w.fails("move_file", args{"source": "notes/gone", "destination": "notes/x"}, "does not exist")
	w.fails("move_file", args{"source": "notes/new", "destination": "notes/x"}, "is a folder")
	w.fails("move_file", args{"source": "notes/b.md", "destination": "notes/b.md"}, "exists already")
	w.has("notes/b.md", "two\n")
	w.clean()
}

func TestCopy(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"ro/a.md": "one\n", "rw/b.md": ""}, roots: []roots.Root{
		{Name: "ro", Host: "ro"}, {Name: "rw", Host: "rw", Mode: roots.ModeReadWrite}}})
	w.ok("copy_file", args{"source": "ro/a.md", "destination": "rw/x/a.md"})
	w.has("ro/a.md", "one\n")
	w.has("rw/x/a.md", "one\n")
	q, _ := w.lastAsked()
	if len(q.Acts) != 2 || q.Acts[0].String() != "read_file(ro/a.md)" || q.Acts[1].String() != "write_file(rw/x/a.md)" {
		t.Errorf("acts %v", q.Acts)
	}
	w.fails("copy_file", args{"source": "ro/a.md", "destination": "rw/b.md"}, "exists already")
	w.clean()
}

func TestMakeDir(t *testing.T) {
	w := notes(t, map[string]string{"f": ""})
	w.ok("make_dir", args{"path": "notes/a/b"})
	if info, err := os.Stat(w.dir + "/notes/a/b"); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	if q, _ := w.lastAsked(); q.Summary != "Create folder notes/a/b" || q.Acts[0].String() != "write_file(notes/a/b)" {
		t.Errorf("%q %v", q.Summary, q.Acts)
	}
	w.fails("make_dir", args{"path": "notes/a"}, "exists already")
	w.fails("make_dir", args{"path": "notes/f"}, "exists already")
}

func TestInfo(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n", "d/x": ""})
	must(t, os.Symlink("a.md", w.dir+"/notes/link"))
	for name, want := range map[string]string{
		"notes/a.md": `"kind":"file","size":4`, "notes/d": `"kind":"folder"`, "notes": `"kind":"folder"`, "notes/link": `"leads_to":"notes/a.md"`,
	} {
		if r := w.ok("file_info", args{"path": name}); !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	w.fails("file_info", args{"path": "notes/none"}, "does not exist")
	w.wantAsked(0)
}

// A file with further names is deleted or moved only if somebody agrees, as it is
// written.
func TestHardLinksAskWhereDeletesAreFree(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "x", "p/b": "x", "p/c": "x"}, roots: []roots.Root{
		{Name: "p", Host: "p", Mode: roots.ModeReadWrite, Approval: verdicts(policy.VerdictFree, roots.AccessWrite, roots.AccessDelete)}}})
	must(t, os.Link(w.dir+"/p/a", w.dir+"/one"))
	must(t, os.Link(w.dir+"/p/b", w.dir+"/two"))
	w.ok("delete_file", args{"path": "p/c"})
	w.wantAsked(0)
	w.ok("delete_file", args{"path": "p/a"})
	w.wantAsked(1)
	w.ok("move_file", args{"source": "p/b", "destination": "p/d"})
	w.wantAsked(2)
	if q, _ := w.lastAsked(); !strings.Contains(q.Why, "hard links") {
		t.Errorf("why: %s", q.Why)
	}
}

// The mode of a file says that it is not to be changed: then somebody is asked,
// and told.
func TestReadOnlyFilesAskWhereWritesAreFree(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "x"}, roots: []roots.Root{
		{Name: "p", Host: "p", Mode: roots.ModeReadWrite, Approval: verdicts(policy.VerdictFree, roots.AccessWrite, roots.AccessDelete)}}})
	must(t, os.Chmod(w.dir+"/p/a", 0o444))
	for i, c := range []policy.Call{
		callOf("write_file", args{"path": "p/a", "content": "y"}),
		callOf("edit_file", args{"path": "p/a", "old_text": "y", "new_text": "z"}),
		callOf("move_file", args{"source": "p/a", "destination": "p/b"}),
		callOf("delete_file", args{"path": "p/b"}),
	} {
		w.ok(c.Tool, decodeArgs(t, c))
		w.wantAsked(i + 1)
		if q, _ := w.lastAsked(); !strings.HasSuffix(q.Summary, ", which is marked read-only") || !strings.Contains(q.Why, "read-only") {
			t.Errorf("%q because %q", q.Summary, q.Why)
		}
		if info, err := os.Stat(w.dir + "/p/a"); err == nil && info.Mode().Perm() != 0o444 {
			t.Errorf("mode %v", info.Mode())
		}
	}
}

// A copy can be read by nobody who could not read the file.
func TestACopyKeepsTheMode(t *testing.T) {
	w := notes(t, map[string]string{"a": "x", "b.sh": "x"})
	must(t, os.Chmod(w.dir+"/notes/a", 0o600))
	must(t, os.Chmod(w.dir+"/notes/b.sh", 0o750))
	for from, mode := range map[string]os.FileMode{"a": 0o600, "b.sh": 0o750} {
		w.ok("copy_file", args{"source": "notes/" + from, "destination": "notes/copy-" + from})
		if info, err := os.Stat(w.dir + "/notes/copy-" + from); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", from, info.Mode(), err)
		}
	}
}

// The owner of a file stays its owner: root gives it back, anybody else does not
// replace the file.
func TestReplacingKeepsTheOwner(t *testing.T) {
	w := notes(t, map[string]string{"a": "x"})
	owner := func() (uid, gid uint32) {
		info, err := os.Stat(w.dir + "/notes/a")
		must(t, err)
		st := info.Sys().(*syscall.Stat_t)
		return st.Uid, st.Gid
	}
	wantUID, wantGID := owner()
	if os.Geteuid() == 0 {
		wantUID, wantGID = 4321, 8765
		must(t, os.Chown(w.dir+"/notes/a", int(wantUID), int(wantGID)))
	}
	w.ok("write_file", args{"path": "notes/a", "content": "y"})
	w.undone(w.ok("delete_file", args{"path": "notes/a"}))
	if uid, gid := owner(); uid != wantUID || gid != wantGID {
		t.Errorf("it belongs to %d:%d, want %d:%d", uid, gid, wantUID, wantGID)
	}
}

// A single file that is gone does not make room for a folder.
func TestMakeDirOnASingleFile(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"todo.md": "x"}, roots: []roots.Root{{Name: "todo", Host: "todo.md", Mode: roots.ModeReadWrite}}})
	must(t, os.Remove(w.dir+"/todo.md"))
	w.blocked("make_dir", args{"path": "todo"}, "single file")
	w.has("todo.md", "-")
	w.ok("write_file", args{"path": "todo", "content": "y"})
	w.has("todo.md", "y")
}
