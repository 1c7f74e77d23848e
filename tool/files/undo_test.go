package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

var undoID = regexp.MustCompile(`Undo id: ([a-z0-9]+)\.`)

func idOf(t *testing.T, r tool.Result) string {
	t.Helper()
	m := undoID.FindStringSubmatch(r.Text)
	if m == nil {
		t.Fatalf("no undo id in %q", r.Text)
	}
	return m[1]
}

// undo takes back a call.
func (w *world) undone(r tool.Result) *files.Restoration {
	w.t.Helper()
	restoration, err := files.Restore(w.t.Context(), w.set, files.Options{Undo: w.undo}, idOf(w.t, r))
	must(w.t, err)
	must(w.t, restoration.Apply(w.t.Context()))
	w.clean()
	return restoration
}

func TestUndoWriteAndEdit(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n"})
	must(t, os.Chmod(w.dir+"/notes/a.md", 0o600))
	edit := w.ok("edit_file", args{"path": "notes/a.md", "old_text": "one", "new_text": "two"})
	w.has("notes/a.md", "two\n")
	r := w.undone(edit)
	w.has("notes/a.md", "one\n")
	if r.Entry.Tool != "edit_file" || r.Summary[0] != "Edit notes/a.md (+1 −1 lines)" || !strings.Contains(r.Views[0].Content, "-two\n+one\n") {
		t.Errorf("%+v", r)
	}
	if info, err := os.Stat(w.dir + "/notes/a.md"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info, err)
	}
}

func TestUndoCreate(t *testing.T) {
	w := notes(t, nil)
	r := w.undone(w.ok("write_file", args{"path": "notes/a.md", "content": "new\n"}))
	w.has("notes/a.md", "-")
	if r.Summary[0] != "Remove notes/a.md" {
		t.Errorf("%q", r.Summary)
	}
}

// A root that denies deleting does not keep what a call created, and one that denies writing does not keep a file
// deleted: undo is the person's own command.
func TestUndoWhereTheRootDeniesOneAccess(t *testing.T) {
	for _, denied := range []roots.Access{roots.AccessDelete, roots.AccessWrite} {
		w := notes(t, map[string]string{"a.md": "one\n"})
		created := idOf(t, w.ok("write_file", args{"path": "notes/new.md", "content": "new\n"}))
		deleted := idOf(t, w.ok("delete_file", args{"path": "notes/a.md"}))
		set, err := roots.New(roots.Options{}, roots.Root{Name: "notes", Host: w.dir + "/notes", Mode: roots.ModeReadWrite,
			Approval: map[roots.Access]policy.Verdict{denied: policy.VerdictBlock}})
		must(t, err)
		defer set.Close()
		for _, id := range []string{created, deleted} {
			r, err := files.Restore(t.Context(), set, files.Options{Undo: w.undo}, id)
			must(t, err)
			must(t, r.Apply(t.Context()))
		}
		w.has("notes/a.md", "one\n")
		w.has("notes/new.md", "-")
	}
}

func TestUndoDelete(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n"})
	must(t, os.Chmod(w.dir+"/notes/a.md", 0o640))
	w.undone(w.ok("delete_file", args{"path": "notes/a.md"}))
	w.has("notes/a.md", "one\n")
	if info, err := os.Stat(w.dir + "/notes/a.md"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v", info, err)
	}
}

func TestUndoMoveAndCopy(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n"})
	w.undone(w.ok("move_file", args{"source": "notes/a.md", "destination": "notes/d/b.md"}))
	w.has("notes/a.md", "one\n")
	w.has("notes/d/b.md", "-")
	w.undone(w.ok("copy_file", args{"source": "notes/a.md", "destination": "notes/c.md"}))
	w.has("notes/a.md", "one\n")
	w.has("notes/c.md", "-")
}

// Undo goes where the tools could go, and nowhere else.
func TestUndoDoesNotFollowALinkIntoWhatIsProtected(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n"})
	id := idOf(t, w.ok("delete_file", args{"path": "notes/a.md"}))
	must(t, os.MkdirAll(w.dir+"/notes/.git/hooks", 0o755))
	must(t, os.Symlink(".git/hooks/post-commit", w.dir+"/notes/a.md"))
	if _, err := files.Restore(t.Context(), w.set, files.Options{Undo: w.undo}, id); err == nil {
		t.Error("it is put back through the link")
	}
	if _, err := os.Lstat(w.dir + "/notes/.git/hooks/post-commit"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the hook: %v", err)
	}
}

func TestUndoDoesNotWriteWhatIsReadOnlyNow(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n"})
	id := idOf(t, w.ok("write_file", args{"path": "notes/a.md", "content": "two\n"}))
	set, err := roots.New(roots.Options{}, roots.Root{Name: "notes", Host: w.dir + "/notes"})
	must(t, err)
	defer set.Close()
	if _, err := files.Restore(t.Context(), set, files.Options{Undo: w.undo}, id); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("got %v", err)
	}
	w.has("notes/a.md", "two\n")
}

func TestUndoOnlyWhatIsStillOurs(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n"})
	id := idOf(t, w.ok("write_file", args{"path": "notes/a.md", "content": "two\n"}))
	w.writeHost("notes/a.md", "three\n")
	if _, err := files.Restore(t.Context(), w.set, files.Options{Undo: w.undo}, id); !errors.Is(err, files.ErrNotOurs) || strings.Contains(err.Error(), w.dir) {
		t.Errorf("got %v", err)
	}
	w.writeHost("notes/a.md", "two\n")
	r, err := files.Restore(t.Context(), w.set, files.Options{Undo: w.undo}, id)
	must(t, err)
	w.writeHost("notes/a.md", "four\n")
	if err := r.Apply(t.Context()); !errors.Is(err, approval.ErrChanged) {
		t.Errorf("got %v", err)
	}
	w.has("notes/a.md", "four\n")
	for _, bad := range []string{"", "nothing", "../../etc/passwd"} {
		if _, err := files.Restore(t.Context(), w.set, files.Options{Undo: w.undo}, bad); !errors.Is(err, files.ErrNoEntry) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestNothingIsKeptOfWhatDidNotHappen(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\n"})
	w.answer = no
	w.call("write_file", args{"path": "notes/a.md", "content": "two\n"})
	entries, err := w.undo.List(t.Context())
	if err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestUndoFolderIsPrivateAndLimited(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	u := &files.UndoFolder{Dir: filepath.Join(t.TempDir(), "state", "undo"), Policy: "/etc/p.yaml", MaxBytes: 10, MaxAge: time.Hour, Clock: func() time.Time { return now }}
	keep := func(size int) (string, error) {
		now = now.Add(time.Minute)
		return u.Keep(t.Context(), files.Entry{Tool: "write_file", Changes: []files.Change{{Path: "p/a", Existed: true, Before: make([]byte, size)}}})
	}
	first, err := keep(4)
	must(t, err)
	second, err := keep(4)
	must(t, err)
	third, err := keep(4)
	must(t, err)
	if _, err := u.Get(t.Context(), first); !errors.Is(err, files.ErrNoEntry) {
		t.Errorf("the oldest is still there: %v", err)
	}
	e, err := u.Get(t.Context(), second)
	if err != nil || len(e.Changes) != 1 || len(e.Changes[0].Before) != 4 || e.ID != second || e.Policy != "/etc/p.yaml" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := keep(11); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	list, err := u.List(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != third {
		t.Errorf("%+v, %v", list, err)
	}
	must(t, filepath.WalkDir(u.Dir, func(name string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return nil
	}))
	for _, name := range []string{"orphan.data", ".new-123"} {
		must(t, writeFile(filepath.Join(u.Dir, name), "x"))
		must(t, os.Chtimes(filepath.Join(u.Dir, name), now, now))
	}
	now = now.Add(2 * time.Hour)
	last, err := keep(1)
	must(t, err)
	if names, err := os.ReadDir(u.Dir); err != nil || len(names) != 2 {
		t.Errorf("more than one entry is left: %v, %v", names, err)
	}
	if list, err := u.List(t.Context()); err != nil || len(list) != 1 || list[0].ID != last {
		t.Errorf("too old: %+v, %v", list, err)
	}
}

func TestUndoThatFailsStopsTheChange(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "one", "file": ""}, roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite}}})
	w.undo.Dir = filepath.Join(w.dir, "file", "undo")
	r := w.call("write_file", args{"path": "p/a", "content": "two"})
	if r.Err == nil || !strings.Contains(r.Text, "nothing was changed") {
		t.Errorf("got %q", r.Text)
	}
	w.has("p/a", "one")
	w.undo.Dir, w.undo.MaxBytes = filepath.Join(w.dir, "undo"), 1
	if r := w.ok("write_file", args{"path": "p/a", "content": "two"}); !strings.Contains(r.Text, "too large to be undone") {
		t.Errorf("got %q", r.Text)
	}
	w.has("p/a", "two")
}

// A file that nobody may read comes back as one.
func TestUndoKeepsTheModeThatAllowsNothing(t *testing.T) {
	e := files.Entry{Tool: "delete_file", Changes: []files.Change{{Path: "notes/a", Existed: true, Before: []byte("x"), Left: nothing(t)}}}
	w := notes(t, nil)
	id, err := w.undo.Keep(t.Context(), e)
	must(t, err)
	r, err := files.Restore(t.Context(), w.set, files.Options{Undo: w.undo}, id)
	must(t, err)
	must(t, r.Apply(t.Context()))
	if info, err := os.Stat(w.dir + "/notes/a"); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// nothing is the digest that an entry has for a file that is gone.
func nothing(t *testing.T) policy.Digest {
	t.Helper()
	w := notes(t, map[string]string{"a": ""})
	e, err := w.undo.Get(t.Context(), idOf(t, w.ok("delete_file", args{"path": "notes/a"})))
	must(t, err)
	return e.Changes[0].Left
}

// A move that ended half way, with the file in both places, is undone as one that
// ended.
func TestUndoOfAMoveThatEndedHalfWay(t *testing.T) {
	w := notes(t, map[string]string{"a": "one\n"})
	id := idOf(t, w.ok("move_file", args{"source": "notes/a", "destination": "notes/b"}))
	w.writeHost("notes/a", "one\n")
	r, err := files.Restore(t.Context(), w.set, files.Options{Undo: w.undo}, id)
	must(t, err)
	if !slices.Equal(r.Summary, []string{"Remove notes/b"}) {
		t.Errorf("%q", r.Summary)
	}
	must(t, r.Apply(t.Context()))
	w.has("notes/a", "one\n")
	w.has("notes/b", "-")
	if _, err := files.Restore(t.Context(), w.set, files.Options{Undo: w.undo}, id); !errors.Is(err, files.ErrAsBefore) {
		t.Errorf("got %v", err)
	}
}

// What a killed process had begun to write goes soon; what is whole stays.
func TestUndoFolderSweepsWhatWasNotFinished(t *testing.T) {
	now := time.Now()
	u := &files.UndoFolder{Dir: t.TempDir(), Clock: func() time.Time { return now }}
	keep := func() string {
		id, err := u.Keep(t.Context(), files.Entry{Changes: []files.Change{{Path: "p/a", Existed: true, Before: []byte("x")}}})
		must(t, err)
		return id
	}
	whole := keep()
	for _, name := range []string{".new-123", "orphan.data", "foreign.txt"} {
		must(t, writeFile(filepath.Join(u.Dir, name), "x"))
	}
	keep()
	for name, there := range map[string]bool{".new-123": true, "orphan.data": true, "foreign.txt": true} {
		if _, err := os.Stat(filepath.Join(u.Dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err) // its process may be at it yet
		}
	}
	now = now.Add(2 * time.Hour)
	keep()
	for name, there := range map[string]bool{".new-123": false, "orphan.data": false, "foreign.txt": true, whole + ".data": true, whole + ".json": true} {
		if _, err := os.Stat(filepath.Join(u.Dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An entry that is kept without waiting for the disk is there at once; Sync drops what is too much.
func TestUndoFolderUnsynced(t *testing.T) {
	u := &files.UndoFolder{Dir: filepath.Join(t.TempDir(), "undo"), MaxBytes: 10, Unsynced: true}
	var ids []string
	for range 3 {
		id, err := u.Keep(t.Context(), files.Entry{Tool: "write_file", Changes: []files.Change{{Path: "a", Existed: true, Before: []byte("12345")}}})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := u.Get(t.Context(), id); err != nil || string(e.Changes[0].Before) != "12345" {
			t.Errorf("it keeps %+v (%v)", e, err)
		}
		ids = append(ids, id)
	}
	if err := u.Sync(ids[2]); err != nil {
		t.Fatal(err)
	}
	list, err := u.List(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != ids[2] || list[1].ID != ids[1] {
		t.Errorf("it lists %+v (%v), want the two newest of %v", list, err, ids)
	}
	if err := u.Sync("gone"); err != nil {
		t.Errorf("an entry that was dropped meanwhile: %v", err)
	}
}
