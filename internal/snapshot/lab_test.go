package snapshot

import (
	"context"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A lab is a project in a repository, with a store beside it.
type lab struct {
	testing.TB
	base, dir string
	store     *Store
	set       *roots.Set
	roots     *Roots
}

// newLab makes a project without a repository.
func newLab(t testing.TB) *lab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	t.Setenv("HOME", base+"/home")
	t.Setenv("XDG_CONFIG_HOME", "")
	l := &lab{TB: t, base: base, dir: base + "/proj"}
	must(t, os.MkdirAll(l.dir, 0o755))
	must(t, os.MkdirAll(base+"/home", 0o755))
	git, err := exec.LookPath("git")
	must(t, err)
	l.store = &Store{Dir: base + "/state/undo", State: base + "/state", Git: git, Policy: "policy.yaml"}
	l.set, err = roots.New(roots.Options{Home: base + "/home"}, roots.Root{Name: "proj", Host: l.dir, Mode: roots.ModeReadWrite, Approval: free})
	must(t, err)
	t.Cleanup(func() { l.set.Close() })
	l.roots = l.store.Over(l.set)
	return l
}

var free = map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictFree, roots.AccessWrite: policy.VerdictFree, roots.AccessDelete: policy.VerdictFree}

// newRepo makes one with a repository, of which everything is committed.
func newRepo(t testing.TB) *lab {
	t.Helper()
	l := newLab(t)
	l.sh(`git init -q -b main . && mkdir -p src doc && echo a > src/a.go && echo b > src/b.go && echo d > doc/d.md && printf 'ignored/\n*.o\n' > .gitignore && chmod 755 src/b.go && ` + commit)
	l.settle()
	return l
}

const commit = `git add -A && git -c user.name=A -c user.email=a@example.com commit -q -m x`

// settle makes the index younger than all files, as it is a moment after a checkout, when git
// has looked once more. Only then do times say that a file is git's.
func (l *lab) settle() {
	l.Helper()
	old := time.Now().Add(-time.Hour)
	must(l, filepath.WalkDir(l.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.Contains(name, "/.git/") {
			return os.Chtimes(name, old, old)
		}
		return err
	}))
	l.sh("git update-index -q --refresh || true")
	later := time.Now().Add(time.Minute)
	must(l, os.Chtimes(l.dir+"/.git/index", later, later))
}

// sh runs a text in the project, as a command that nothing watches.
func (l *lab) sh(text string) {
	l.Helper()
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.Dir = l.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		l.Fatalf("%s: %v\n%s", text, err, out)
	}
}

var anything = shell.Change{Text: "make", Whole: true}

// run runs a text as a command whose effects are not known.
func (l *lab) run(text string) shell.Kept {
	l.Helper()
	return l.change(anything, text)
}

func (l *lab) change(c shell.Change, text string) shell.Kept {
	l.Helper()
	after, err := l.roots.Before(l.Context(), c)
	must(l, err)
	l.sh(text)
	kept, err := after(l.Context())
	must(l, err)
	return kept
}

// undo undoes, and returns what stayed as it is.
func (l *lab) undo(id string) []string {
	l.Helper()
	p, err := l.store.Plan(l.Context(), id, l.set)
	must(l, err)
	must(l, p.Apply(context.Background()))
	return p.Kept
}

// tree is everything in the project but .git: kinds, modes and contents.
func (l *lab) tree() string {
	l.Helper()
	var lines []string
	must(l, filepath.WalkDir(l.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := strings.TrimPrefix(name, l.dir) + " " + info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line += " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		lines = append(lines, line)
		return nil
	}))
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// back runs a command, undoes it, and wants everything to be as it was.
func (l *lab) back(text string) shell.Kept {
	l.Helper()
	was := l.tree()
	kept := l.run(text)
	if kept.ID == "" {
		l.Fatalf("%s: nothing was recorded: %+v", text, kept)
	}
	if left := l.undo(kept.ID); len(left) > 0 {
		l.Fatalf("%s: not undone: %q", text, left)
	}
	if now := l.tree(); now != was {
		l.Fatalf("%s: undone, it is\n%s\nand was\n%s", text, now, was)
	}
	return kept
}

func hexBytes(text string) ([]byte, error) { return hex.DecodeString(text) }

func hexOf(id blobID) string { return hex.EncodeToString(id.bytes()) }
