package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

func objects(t testing.TB, s *Store) int {
	t.Helper()
	list, _, err := s.objects()
	must(t, err)
	return len(list)
}

// What a command writes, makes, deletes and chmods is put back, in a repository and without one.
func TestUndoneAsItWas(t *testing.T) {
	commands := []string{
		"echo more >> src/a.go",
		"echo new > src/new.go && mkdir -p x/y && echo z > x/y/z",
		"rm -r src doc",
		"chmod 600 src/b.go && chmod 700 src",
		"mv src other && mv doc/d.md .",
		"rm src/a.go && mkdir src/a.go && echo in > src/a.go/in",
		"rm -r doc && echo file > doc",
		"rm -r src && ln -s doc src",
		"rm untracked && ln -s src/a.go untracked",
		"ln -sf elsewhere alink && rm -r dirlink",
		"echo changed > untracked && echo changed > modified",
		"echo '*' > .gitignore && echo x > src/x.go",
		"rm -r empty && mkdir -m 700 other-empty",
		"find . -name '*.go' -delete",
		"mkfifo pipe",
	}
	prepare := "echo u > untracked && echo one > modified && mkdir empty && ln -s src alink && ln -s /etc dirlink && mkdir -p ignored && echo i > ignored/i && echo o > x.o"
	for name, make := range map[string]func() *lab{
		"git":     func() *lab { l := newRepo(t); l.sh(prepare + " && git add modified && echo two > modified"); return l },
		"v4":      func() *lab { l := newRepo(t); l.sh(prepare + " && git update-index --index-version 4"); return l },
		"split":   func() *lab { l := newRepo(t); l.sh(prepare + " && git update-index --split-index"); return l },
		"no git":  func() *lab { l := newRepo(t); l.sh(prepare); l.store.Git = ""; return l },
		"no repo": func() *lab { l := newRepo(t); l.sh(prepare + " && rm -r .git"); return l },
		"corrupt": func() *lab { l := newRepo(t); l.sh(prepare + " && printf x >> .git/index"); return l },
		"packed":  func() *lab { l := newRepo(t); l.sh(prepare + " && git gc -q"); return l },
		"eol":     func() *lab { l := newRepo(t); l.sh(prepare + " && echo '* text=auto' > .gitattributes"); return l },
	} {
		t.Run(name, func(t *testing.T) {
			l := make()
			l.TB = t
			for _, c := range commands {
				l.back(c)
			}
		})
	}
}

// A root that denies deleting does not keep what a command created, and one that denies writing does not keep a file
// deleted: undo is the person's own command.
func TestUndoneWhereTheRootDeniesOneAccess(t *testing.T) {
	for _, denied := range []roots.Access{roots.AccessDelete, roots.AccessWrite} {
		l := newRepo(t)
		kept := l.run("mkdir new && echo new > new/file && rm src/a.go")
		set, err := roots.New(roots.Options{}, roots.Root{Name: "proj", Host: l.dir, Mode: roots.ModeReadWrite,
			Approval: map[roots.Access]policy.Verdict{denied: policy.VerdictBlock}})
		must(t, err)
		defer set.Close()
		l.set = set
		if left := l.undo(kept.ID); len(left) > 0 {
			t.Errorf("left alone: %q", left)
		}
		l.sh("test ! -e new && test -e src/a.go")
	}
}

// In a clean repository nothing is copied: git has it.
func TestCleanNeedsNoCopy(t *testing.T) {
	l := newRepo(t)
	l.store.Clock = func() time.Time { return time.Now().Add(time.Minute) } // when times say something
	kept := l.run("echo changed > src/a.go; rm src/b.go")
	if n := objects(t, l.store); n != 0 {
		t.Errorf("%d files were copied", n)
	}
	if len(l.store.seen) > 0 {
		t.Errorf("%d files were read, though the index says that they are git's", len(l.store.seen))
	}
	if kept.Files != 2 {
		t.Errorf("%+v", kept)
	}
	l.undo(kept.ID)
	if data, _ := os.ReadFile(l.dir + "/src/a.go"); string(data) != "a\n" {
		t.Errorf("%q", data)
	}
	if info, err := os.Stat(l.dir + "/src/b.go"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", info, err)
	}
}

// A file that was copied is copied again only when it has changed.
func TestCopiedOnce(t *testing.T) {
	l := newRepo(t)
	l.sh("echo u > untracked")
	later := func() time.Time { return time.Now().Add(time.Minute) } // when times say something
	l.store.Clock = later
	l.run("true")
	first, err := os.Stat(l.store.object(objectIDs(t, l.store)[0]))
	must(t, err)
	l.store = &Store{Dir: l.store.Dir, State: l.store.State, Git: l.store.Git, Clock: later} // the next process
	l.roots = l.store.Over(l.set)
	l.run("true")
	second, err := os.Stat(l.store.object(objectIDs(t, l.store)[0]))
	must(t, err)
	if !os.SameFile(first, second) {
		t.Error("it was copied twice")
	}
	l.sh("echo v > untracked")
	l.run("true")
	if n := objects(t, l.store); n != 2 {
		t.Errorf("%d copies", n)
	}
}

func objectIDs(t testing.TB, s *Store) (out []blobID) {
	list, _, err := s.objects()
	must(t, err)
	for _, c := range list {
		raw, err := hexBytes(c.id)
		must(t, err)
		out = append(out, newBlobID(raw))
	}
	return out
}

// A blob that git converts is not what lies in the work tree.
func TestConvertedFilesAreKept(t *testing.T) {
	l := newRepo(t)
	l.sh(`printf '*.txt text eol=crlf\n' > .gitattributes && printf 'one\r\ntwo\r\n' > dos.txt && ` + commit)
	l.settle()
	l.back("rm dos.txt")
	l.back("echo more >> dos.txt")
	l.sh(`printf '[core]\nautocrlf = true\n' >> .git/config && printf 'a\r\n' > src/c.go && ` + commit)
	l.settle()
	l.back("rm src/c.go")
}

// What was changed after the command is left alone, and said.
func TestChangedSince(t *testing.T) {
	l := newRepo(t)
	kept := l.run("echo one > src/a.go; echo two > src/b.go; echo made > made; echo made > other")
	l.sh("echo mine > src/a.go; echo mine > made")
	left := l.undo(kept.ID)
	want := []string{"proj/made: it has changed since; undoing would lose that", "proj/src/a.go: it has changed since; undoing would lose that"}
	if !slices.Equal(left, want) {
		t.Errorf("%q", left)
	}
	l.sh(`test "$(cat src/a.go)" = mine && test "$(cat src/b.go)" = b && test "$(cat made)" = mine && ! test -e other`)
}

// Writing the same content again, or touching a file, changes nothing.
func TestNothingChanged(t *testing.T) {
	l := newRepo(t)
	if kept := l.run("touch src/a.go; cp src/b.go x; cat x > src/b.go; rm x; git status > /dev/null"); kept.ID != "" {
		t.Errorf("%+v", kept)
	}
	if list, err := os.ReadDir(l.store.records()); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
}

// What is ignored, or too large, is written through; that is known before and said after.
func TestThrough(t *testing.T) {
	l := newRepo(t)
	l.store.MaxFile = 1000
	l.sh("mkdir ignored && echo i > ignored/i && echo o > src/x.o && head -c 2000 /dev/zero > large && mkdir nested && cd nested && git init -q && echo n > n")
	through, err := l.roots.Through(t.Context(), anything)
	must(t, err)
	want := []string{l.dir + "/ignored/", l.dir + "/large (too large)", l.dir + "/src/x.o"}
	if !slices.Equal(through, want) {
		t.Errorf("%q", through)
	}
	if _, err := os.Stat(l.store.Dir); err == nil {
		t.Error("looking made the store")
	}
	kept := l.run("echo j > ignored/i; echo p > src/x.o; echo x > large; echo m > nested/n; echo '' > .gitignore")
	if !strings.Contains(kept.Note, "large (too large)") || kept.Files != 2 {
		t.Errorf("%+v", kept)
	}
	l.undo(kept.ID)
	l.sh(`test "$(cat ignored/i)" = j && test "$(cat src/x.o)" = p && test "$(cat large)" = x && test "$(cat nested/n)" = n`)
}

// A command whose effects are known keeps only what it names, though git ignores it.
func TestKnownCommand(t *testing.T) {
	l := newRepo(t)
	l.sh("echo u > untracked; echo o > x.o; ln -s src/a.go tothat")
	was := l.tree()
	kept := l.change(shell.Change{Text: "rm", Paths: []string{l.dir + "/x.o", l.dir + "/new/deep/file", l.dir + "/tothat"}}, "rm x.o; mkdir -p new/deep; echo f > new/deep/file; echo via > tothat")
	if n := objects(t, l.store); n != 1 {
		t.Errorf("%d copies", n)
	}
	if kept.Files != 3 {
		t.Errorf("%+v", kept)
	}
	l.undo(kept.ID)
	if now := l.tree(); now != was {
		t.Errorf("it is\n%s\nand was\n%s", now, was)
	}
	if why := l.roots.Covers(t.Context(), shell.Change{Paths: []string{l.base + "/elsewhere"}}); why == "" {
		t.Error("a file outside of the roots is covered")
	}
	if why := l.roots.Covers(t.Context(), shell.Change{Paths: []string{l.dir + "/x"}}); why != "" {
		t.Error(why)
	}
}

// If it cannot be kept, the command must not run.
func TestStoreThatCannotBeWritten(t *testing.T) {
	l := newRepo(t)
	l.sh("echo u > untracked")
	must(t, os.MkdirAll(l.base+"/state", 0o700))
	must(t, os.WriteFile(l.base+"/state/undo", nil, 0o600)) // a file where the folder would be
	if _, err := l.roots.Before(t.Context(), anything); err == nil {
		t.Fatal("it was kept nowhere")
	}
}

// More than may be kept: what no record needs goes first, then the oldest record, and that is
// said. What does not fit at all is written through.
func TestRoom(t *testing.T) {
	l := newRepo(t)
	l.store.MaxBytes = 5000
	l.sh("head -c 2000 /dev/zero > one")
	first := l.run("echo 1 > one")
	l.sh("head -c 2000 /dev/zero | tr '\\0' a > one")
	second := l.run("echo 2 > one")
	if first.Note+second.Note != "" {
		t.Errorf("%q %q", first.Note, second.Note)
	}
	l.sh("head -c 2000 /dev/zero | tr '\\0' b > one")
	third := l.run("echo 3 > one")
	if !strings.Contains(third.Note, "The oldest 1 entries for undo were dropped") {
		t.Errorf("%+v", third)
	}
	if _, err := l.store.Get(first.ID); !errors.Is(err, ErrNoRecord) {
		t.Error(err)
	}
	l.undo(third.ID)
	l.sh("head -c 6000 /dev/zero > six")
	kept := l.run("echo 4 > six")
	if !strings.Contains(kept.Note, "six (too much to keep)") {
		t.Errorf("%+v", kept)
	}
}

// The state folder may lie in a root; it is not looked at.
func TestStateInsideRoot(t *testing.T) {
	l := newRepo(t)
	l.store.Dir, l.store.State = filepath.Join(l.dir, "state/undo"), filepath.Join(l.dir, "state")
	must(t, os.MkdirAll(l.store.Dir, 0o700))
	if kept := l.run("echo x > state/other"); kept.ID != "" {
		t.Errorf("%+v", kept)
	}
}

// Undo says that it does not cover commits.
func TestCommitIsGits(t *testing.T) {
	l := newRepo(t)
	kept := l.run("echo c > src/a.go; " + commit)
	rec, err := l.store.Get(kept.ID)
	must(t, err)
	if !rec.Git {
		t.Error("the commit was not noticed")
	}
	l.undo(kept.ID)
	l.sh(`test "$(cat src/a.go)" = a && test "$(git log --oneline | wc -l)" = 2`)
}

// A tree that is too large to be looked at before each command is not covered, and that is
// known before.
func TestTooManyFiles(t *testing.T) {
	l := newRepo(t)
	if why := l.roots.Covers(t.Context(), anything); why != "" {
		t.Error(why)
	}
	l.store.MaxFiles = 3
	kept := l.run("echo x > src/a.go")
	if kept.ID != "" || kept.Note != "It cannot be undone: there are more than 3 files that git does not ignore." {
		t.Errorf("%+v", kept)
	}
	if why := l.roots.Covers(t.Context(), anything); why == "" {
		t.Error("it is covered")
	}
}
