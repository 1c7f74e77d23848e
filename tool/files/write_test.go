package files_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

func TestCreate(t *testing.T) {
	w := notes(t, nil)
	w.meanwhile = func() { w.has("notes/new", "-") } // no folder before the answer
	r := w.ok("write_file", args{"path": "notes/new/deep/a.go", "content": "package a\n\nfunc f() {}\n"})
	w.has("notes/new/deep/a.go", "package a\n\nfunc f() {}\n")
	q, view := w.lastAsked()
	if want := "Create notes/new/deep/a.go (23 bytes, 3 lines)"; q.Summary != want {
		t.Errorf("summary %q, want %q", q.Summary, want)
	}
	if view.Kind != present.KindFile || view.Language != "go" || view.Content != "package a\n\nfunc f() {}\n" {
		t.Errorf("shown as %+v", view)
	}
	if size, _ := view.Facts.Get(present.FactSize); size.Value() != "23" {
		t.Errorf("facts %v", view.Facts)
	}
	if q.Edit.Argument != "content" || q.Edit.Suffix != ".go" {
		t.Errorf("edit %+v", q.Edit)
	}
	if !strings.Contains(r.Text, "Create notes/new/deep/a.go") || !strings.Contains(r.Text, "Undo id: ") {
		t.Errorf("told %q", r.Text)
	}
	w.clean()
}

func TestNewFilesHaveTheOrdinaryMode(t *testing.T) {
	w := notes(t, nil)
	w.ok("write_file", args{"path": "notes/a", "content": "x"})
	must(t, os.WriteFile(filepath.Join(w.dir, "notes/plain"), nil, 0o666))
	a, err := os.Stat(filepath.Join(w.dir, "notes/a"))
	must(t, err)
	plain, err := os.Stat(filepath.Join(w.dir, "notes/plain"))
	must(t, err)
	if a.Mode() != plain.Mode() {
		t.Errorf("mode %v, want %v", a.Mode(), plain.Mode())
	}
}

func TestOverwriteShowsADiffAndKeepsTheMode(t *testing.T) {
	w := notes(t, map[string]string{"a.sh": "one\ntwo\nthree\n"})
	must(t, os.Chmod(w.dir+"/notes/a.sh", 0o750))
	w.ok("write_file", args{"path": "notes/a.sh", "content": "one\n2\nthree\nfour\n"})
	q, view := w.lastAsked()
	if q.Summary != "Edit notes/a.sh (+2 −1 lines)" {
		t.Errorf("summary %q", q.Summary)
	}
	if view.Kind != present.KindDiff || !strings.Contains(view.Content, "-two\n+2\n") {
		t.Errorf("shown as %+v", view)
	}
	w.has("notes/a.sh", "one\n2\nthree\nfour\n")
	if info, err := os.Stat(w.dir + "/notes/a.sh"); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	w.clean()
}

func TestDeniedWriteLeavesNothing(t *testing.T) {
	w := notes(t, nil)
	w.answer = no
	results := tool.Calls(t.Context(), w.gate,
		callOf("write_file", args{"path": "notes/d/a", "content": "x"}),
		callOf("edit_file", args{"path": "notes/d/a", "old_text": "x", "new_text": "y"}),
		callOf("make_dir", args{"path": "notes/e"}))
	for _, r := range results {
		if r.Err == nil {
			t.Errorf("%s ran: %s", r.Tool, r.Text)
		}
	}
	w.has("notes/d", "-")
	w.has("notes/e", "-")
}

func TestWritesThatAreBlocked(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"ro/a.md": "x", "rw/.git/config": "x"}, roots: []roots.Root{
		{Name: "ro", Host: "ro"},
		{Name: "rw", Host: "rw", Mode: roots.ModeReadWrite, Suffixes: []string{".md", "config"}, MaxFileBytes: 5},
	}})
	w.blocked("write_file", args{"path": "ro/a.md", "content": "y"}, "read-only")
	w.blocked("edit_file", args{"path": "ro/a.md", "old_text": "x", "new_text": "y"}, "read-only")
	w.blocked("delete_file", args{"path": "ro/a.md"}, "read-only")
	w.blocked("make_dir", args{"path": "ro/d"}, "read-only")
	w.blocked("move_file", args{"source": "ro/a.md", "destination": "rw/a.md"}, "read-only")
	w.blocked("copy_file", args{"source": "ro/a.md", "destination": "ro/b.md"}, "read-only")
	w.blocked("write_file", args{"path": "rw/a.txt", "content": "y"}, `".txt"`)
	w.blocked("write_file", args{"path": "rw/a.md", "content": "123456"}, "too large")
	w.blocked("write_file", args{"path": "rw/.git/config", "content": "y"}, "protected")
	w.blocked("write_file", args{"path": "rw/../ro/a.md", "content": "y"}, "read-only")
	w.blocked("write_file", args{"path": "nowhere/a.md", "content": "y"}, "ro, rw")
	w.has("ro/a.md", "x")
	w.has("rw/.git/config", "x")
}

// Approve-all does not lift what is blocked.
func TestBlockedInApproveAll(t *testing.T) {
	w := newWorld(t, setup{mode: policy.ModeApproveAll, roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite}}})
	w.blocked("write_file", args{"path": "p/.git/hooks/x", "content": "y"}, "protected")
	w.ok("write_file", args{"path": "p/a", "content": "y"})
	w.has("p/a", "y")
}

func TestWriteOnWhatIsNoFile(t *testing.T) {
	w := notes(t, map[string]string{"d/x": ""})
	must(t, syscall.Mkfifo(w.dir+"/notes/fifo", 0o644))
	w.fails("write_file", args{"path": "notes/d", "content": "x"}, "is a folder")
	w.fails("write_file", args{"path": "notes/fifo", "content": "x"}, "neither a file nor a folder")
	w.invalid("write_file", args{"path": "notes/d/x/y", "content": "x"}, "is a file")
}

func TestBinaryIsShownAsSuch(t *testing.T) {
	w := notes(t, map[string]string{"a.png": "\x89PNG\r\n\x1a\n\x00\x01" + strings.Repeat("\xfe", 1000)})
	w.ok("delete_file", args{"path": "notes/a.png"})
	_, view := w.lastAsked()
	kind, _ := view.Facts.Get("type")
	digest, _ := view.Facts.Get("digest")
	if kind.Value() != "image/png" || !strings.HasPrefix(digest.Value(), "sha256:") || !strings.HasPrefix(view.Content, "000000  89 50 4e 47") {
		t.Errorf("shown as %+v", view)
	}
	if len(view.Content) > 2000 {
		t.Errorf("%d bytes of hex", len(view.Content))
	}
}

func TestWriteThroughALinkInside(t *testing.T) {
	w := notes(t, map[string]string{"real.md": "old\n"})
	must(t, os.Symlink("real.md", w.dir+"/notes/link.md"))
	w.ok("write_file", args{"path": "notes/link.md", "content": "new\n"})
	w.has("notes/real.md", "new\n")
	if target, err := os.Readlink(w.dir + "/notes/link.md"); err != nil || target != "real.md" {
		t.Errorf("the link became %q, %v", target, err)
	}
	if q, _ := w.lastAsked(); !strings.Contains(q.Summary, "notes/link.md → notes/real.md") {
		t.Errorf("summary %q", q.Summary)
	}
}

func TestLinksOutAreBlocked(t *testing.T) {
	w := notes(t, nil)
	w.writeHost("secret", "mine")
	must(t, os.Symlink("../secret", w.dir+"/notes/link"))
	w.blocked("read_file", args{"path": "notes/link"}, "leads out")
	w.blocked("write_file", args{"path": "notes/link", "content": "x"}, "leads out")
	w.blocked("delete_file", args{"path": "notes/link"}, "leads out")
	w.blocked("copy_file", args{"source": "notes/link", "destination": "notes/b"}, "leads out")
	w.has("secret", "mine")
}

func TestHardLinkAsksWhereWritesAreFree(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "x", "p/b": "x"}, roots: []roots.Root{
		{Name: "p", Host: "p", Mode: roots.ModeReadWrite, Approval: verdicts(policy.VerdictFree, roots.AccessWrite)}}})
	must(t, os.Link(w.dir+"/p/a", w.dir+"/outside"))
	w.ok("write_file", args{"path": "p/b", "content": "y"})
	w.wantAsked(0)
	w.ok("write_file", args{"path": "p/a", "content": "y"})
	w.wantAsked(1)
	w.has("outside", "x")
}

func TestChangedWhileReadingIsAskedAgain(t *testing.T) {
	w := notes(t, map[string]string{"a": "one\n"})
	w.meanwhile = func() {
		if len(w.asked) == 1 {
			w.writeHost("notes/a", "two\n")
		}
	}
	w.ok("write_file", args{"path": "notes/a", "content": "three\n"})
	w.wantAsked(2)
	if _, view := w.lastAsked(); !strings.Contains(view.Content, "-two\n+three\n") {
		t.Errorf("shown again as %s", view.Content)
	}
	w.has("notes/a", "three\n")
}

func TestCreatedWhileReadingIsAskedAgain(t *testing.T) {
	w := notes(t, nil)
	w.meanwhile = func() {
		if len(w.asked) == 1 {
			w.writeHost("notes/a", "somebody's\n")
		}
	}
	w.answer = func(r *approval.Request) approval.Decision {
		if len(w.asked) == 1 {
			return r.Approve("")
		}
		return r.Deny("")
	}
	r := w.call("write_file", args{"path": "notes/a", "content": "three\n"})
	if !errors.Is(r.Err, approval.ErrDenied) {
		t.Errorf("got %v", r.Err)
	}
	w.has("notes/a", "somebody's\n")
}

// An empty file is not the same as none.
func TestEmptyFileCreatedWhileReadingIsAskedAgain(t *testing.T) {
	w := notes(t, nil)
	w.meanwhile = func() {
		if len(w.asked) == 1 {
			w.writeHost("notes/a", "")
		}
	}
	w.ok("write_file", args{"path": "notes/a", "content": "x"})
	w.wantAsked(2)
}

func TestSameContentSaysSo(t *testing.T) {
	w := notes(t, map[string]string{"a": "one\n"})
	w.ok("write_file", args{"path": "notes/a", "content": "one\n"})
	if q, view := w.lastAsked(); !strings.Contains(q.Summary, "nothing changes") || view.Kind != present.KindText {
		t.Errorf("%q, %+v", q.Summary, view)
	}
}

// A write that fails leaves nothing behind: no folder, no file, nothing to undo.
// The limit that makes it fail holds for a process, so it is one of its own.
func TestAFailedWriteLeavesNothing(t *testing.T) {
	if reexec.IsAlone() == "" {
		if out, err := reexec.Alone(t.Name(), "limited").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	w := notes(t, map[string]string{"kept/a": ""})
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = 4096
	signal.Ignore(syscall.SIGXFSZ)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	r := w.call("write_file", args{"path": "notes/kept/new/deep/b", "content": strings.Repeat("x", 100_000)})
	if !errors.Is(r.Err, syscall.EFBIG) {
		t.Fatalf("got %v", r.Err)
	}
	w.has("notes/kept/new", "-")
	w.has("notes/kept/a", "")
	w.clean()
	if entries, err := w.undo.List(t.Context()); err != nil || len(entries) != 0 {
		t.Errorf("kept %v, %v", entries, err)
	}
}

// A root that was moved away is not written to where it is now, nor is what took
// its place.
func TestARootThatWasReplaced(t *testing.T) {
	for name, replace := range map[string]func(dir string) error{
		"another folder": func(dir string) error { return os.Mkdir(dir+"/notes", 0o755) },
		"a link":         func(dir string) error { return os.Symlink("elsewhere", dir+"/notes") },
		"nothing":        func(string) error { return nil },
	} {
		w := notes(t, map[string]string{"a": "one"})
		w.writeHost("elsewhere/a", "mine")
		w.meanwhile = func() {
			must(t, os.Rename(w.dir+"/notes", w.dir+"/moved"))
			must(t, replace(w.dir))
		}
		r := w.call("write_file", args{"path": "notes/a", "content": "two"})
		if !errors.Is(r.Err, approval.ErrBlocked) || !strings.Contains(r.Text, "moved or replaced") {
			t.Errorf("%s: %v", name, r.Err)
		}
		w.blocked("read_file", args{"path": "notes/a"}, "moved or replaced")
		w.has("moved/a", "one")
		w.has("elsewhere/a", "mine")
		w.clean()
	}
}

// At the last instant, too.
func TestARootThatIsReplacedAtTheLastInstant(t *testing.T) {
	undo := &meddler{}
	w := newWorld(t, setup{tree: map[string]string{"p/a": "one"}, options: files.Options{Undo: undo},
		roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite}}})
	undo.Undo, undo.once = w.undo, func() {
		must(t, os.Rename(w.dir+"/p", w.dir+"/moved"))
		must(t, os.Mkdir(w.dir+"/p", 0o755))
	}
	if r := w.call("write_file", args{"path": "p/a", "content": "two"}); r.Err == nil || !strings.Contains(r.Text, "moved or replaced") {
		t.Errorf("got %v", r.Err)
	}
	w.has("moved/a", "one")
	w.has("p/a", "-")
}

// once_per_session: a yes holds for the session, for this access to this file.
func TestARootAsksOncePerSession(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "one", "p/b": "two", "p/.env": "K=1"}, roots: []roots.Root{
		{Name: "p", Host: "p", Mode: roots.ModeReadWrite, Approval: ask(roots.AccessRead), Once: []roots.Access{roots.AccessRead}}}})
	w.ok("read_file", args{"path": "p/a"})
	w.ok("read_file", args{"path": "p/a"})
	w.wantAsked(1)
	if q, _ := w.lastAsked(); !q.Once || !strings.Contains(q.Why, "once per session") {
		t.Errorf("once %v, why %q", q.Once, q.Why)
	}
	w.ok("read_file", args{"path": "p/b"})
	w.wantAsked(2)
	for i := range 2 { // the write asks each time
		w.ok("write_file", args{"path": "p/a", "content": strings.Repeat("x", i)})
		w.ok("read_file", args{"path": "p/.env"}) // and so does a secret
	}
	w.wantAsked(6)
	w.ok("list_files", args{"path": "p"})
	w.ok("list_files", args{"path": "p"})
	w.wantAsked(7)
}
