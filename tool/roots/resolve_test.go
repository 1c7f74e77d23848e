package roots_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

func TestNamesAreCleaned(t *testing.T) {
	dir := tree(t, "scratch/", "output/x")
	set := newSet(t, rw("scratch", dir+"/scratch"), rw("output", dir+"/output"))
	for name, want := range map[string]string{
		"output/x":               "output/x",
		"/output/x":              "output/x",
		"//output//./x":          "output/x",
		"output/x/":              "output/x",
		"/scratch/../output/x":   "output/x",
		"output/sub/../x":        "output/x",
		"scratch/new/deep/a.txt": "scratch/new/deep/a.txt",
		"output":                 "output",
	} {
		p, err := set.Resolve(name)
		must(t, err)
		if p.Name() != want || p.Resolved() != want {
			t.Errorf("%q is %q and resolves to %q, want %q", name, p.Name(), p.Resolved(), want)
		}
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	dir := tree(t, "notes/", "secret", "notes/out -> ../secret", "notes/abs -> /etc/passwd", "notes/loop -> loop",
		"notes/up -> ..", "notes/deep/out -> ../../secret")
	set := newSet(t, rw("notes", dir+"/notes"))
	for name, why := range map[string]string{
		"":                        "names no root",
		"/":                       "names no root",
		"..":                      "leads out of every root",
		"../secret":               "leads out of every root",
		"notes/../../secret":      "leads out of every root",
		"/notes/../..":            "leads out of every root",
		"other/x":                 "there is notes",
		"/etc/passwd":             "there is notes",
		dir + "/notes/a":          "there is notes",
		"~/x":                     "home folders",
		"~root/x":                 "home folders",
		"/~/x":                    "home folders",
		"C:/x":                    "drive",
		"c:x":                     "drive",
		`C:\x`:                    "backslash",
		`notes\..\..\secret`:      "backslash",
		`notes/a\b`:               "backslash",
		"notes/a\x00b":            "control characters",
		"notes/a\nb":              "control characters",
		"notes/a\u0085b":          "control characters",
		"notes/\xff":              "not UTF-8",
		"notes/out":               "leads out of its root",
		"notes/abs":               "leads out of its root",
		"notes/up/secret":         "leads out of its root",
		"notes/deep/out":          "leads out of its root",
		"notes/loop":              "too many links",
		"notes/deep/../../secret": "there is notes",
	} {
		_, err := set.Resolve(name)
		r := (*roots.Refusal)(nil)
		if !errors.As(err, &r) || !strings.Contains(r.Why, why) {
			t.Errorf("%q: %v, want a refusal with %q", name, err, why)
		}
		if err != nil && !strings.HasPrefix(name, dir) && strings.Contains(err.Error(), dir) {
			t.Errorf("%q: the error shows the host path: %v", name, err)
		}
	}
}

func TestAbsolutePathsBelowTheRootNamedDot(t *testing.T) {
	dir := tree(t, "src/a.go")
	set := newSet(t, rw(".", dir))
	for _, name := range []string{"src/a.go", "/src/a.go", "./src/a.go", "/new.txt"} {
		if _, err := set.Resolve(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"/etc/passwd", dir + "/src/a.go"} {
		if act := verdict(t, set, name, roots.AccessRead); act.Verdict != policy.VerdictBlock || !strings.Contains(act.Why, "absolute path") {
			t.Errorf("%q: %v %s, want it refused as absolute", name, act.Verdict, act.Why)
		}
	}
	p, err := set.Resolve("src/a.go")
	must(t, err)
	if got := p.Target().Written; !slices.Equal(got, []string{"src/a.go", dir + "/src/a.go"}) {
		t.Errorf("written as %q", got)
	}
}

func TestLinksInsideTheRoot(t *testing.T) {
	dir := tree(t, "proj/real/a.txt", "proj/link -> real", "proj/abs -> DIR/proj/real", "proj/real/back -> ../link/a.txt", "proj/dangling -> real/new.txt")
	set := newSet(t, rw("proj", dir+"/proj"))
	for name, want := range map[string]string{
		"proj/link/a.txt": "proj/real/a.txt",
		"proj/abs/a.txt":  "proj/real/a.txt",
		"proj/real/back":  "proj/real/a.txt",
		"proj/dangling":   "proj/real/new.txt",
	} {
		p, err := set.Resolve(name)
		must(t, err)
		if p.Resolved() != want {
			t.Errorf("%s resolves to %s, want %s", name, p.Resolved(), want)
		}
		target := p.Target()
		if target.Written[0] != name || target.Resolved[0] != want || !slices.Contains(target.Resolved, dir+"/"+want) {
			t.Errorf("%s has the target %+v", name, target)
		}
		if _, rel := p.Handle(); "proj/"+rel != want {
			t.Errorf("%s is reached as %s, want %s", name, rel, want)
		}
	}
}

// A root that is itself a link is spelled in both ways, so that rules about
// either hold (corpus A323).
func TestRootThatIsALink(t *testing.T) {
	dir := tree(t, "data/proj/src/a.go", "w -> data")
	set := newSet(t, rw(".", dir+"/w/proj"))
	p, err := set.Resolve("src/a.go")
	must(t, err)
	target := p.Target()
	for _, spelling := range []string{dir + "/w/proj/src/a.go", dir + "/data/proj/src/a.go", "src/a.go"} {
		if !slices.Contains(target.Resolved, spelling) {
			t.Errorf("%q is no spelling of what it resolves to: %q", spelling, target.Resolved)
		}
	}
	if !slices.Contains(target.Written, dir+"/w/proj/src/a.go") {
		t.Errorf("written as %q", target.Written)
	}
}

func TestPartOfThePathIsAFile(t *testing.T) {
	dir := tree(t, "a.txt")
	set := newSet(t, rw("notes", dir))
	_, err := set.Resolve("notes/a.txt/b")
	if err == nil || !strings.Contains(err.Error(), "notes/a.txt/b: a part of it is a file") {
		t.Errorf("got %v", err)
	}
}

func TestSingleFile(t *testing.T) {
	dir := tree(t, "todo.md", "other.md")
	set := newSet(t, rw("todo", dir+"/todo.md"))
	p, err := set.Resolve("todo")
	must(t, err)
	if _, rel := p.Handle(); rel != "todo.md" || p.Info == nil {
		t.Errorf("reached as %q, %v", rel, p.Info)
	}
	if got := p.Target().Resolved; !slices.Equal(got, []string{"todo", dir + "/todo.md"}) {
		t.Errorf("spelled %q", got)
	}
	for _, name := range []string{"todo/x", "todo/../other.md", "todo.md", "other.md"} {
		wantVerdict(t, set, name, roots.AccessRead, policy.VerdictBlock)
	}
	must(t, os.Remove(dir+"/todo.md"))
	must(t, os.Symlink("other.md", dir+"/todo.md"))
	if act := wantVerdict(t, set, "todo", roots.AccessRead, policy.VerdictBlock); !strings.Contains(act.Why, "leads out") {
		t.Errorf("why: %s", act.Why)
	}
}

func TestErrorsShowNoHostPath(t *testing.T) {
	dir := tree(t, "notes/")
	set := newSet(t, rw("notes", dir+"/notes"))
	long := strings.Repeat("x", 300)
	_, err := set.Resolve("notes/" + long)
	if err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	if err := roots.Plain(&os.PathError{Op: "open", Path: dir, Err: os.ErrPermission}); err.Error() != os.ErrPermission.Error() {
		t.Errorf("got %v", err)
	}
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"notes/a.txt", "/notes/../x", "notes/in/../../secret", "notes/up/..", "~", "C:\\x", "notes/./in//a",
		"notes/loop/a", "inner/a", "notes/in/back/in", "../notes", "notes/deep/out/x", "notes/abs", "\x00",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		f.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	for _, d := range []string{"inner", "deep"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"in": "inner", "up": "..", "loop": "loop", "abs": "/etc", "self": root, "deep/out": "../../x", "inner/back": "..", "deep/far": "../inner/../../y",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			f.Fatal(err)
		}
	}
	set, err := roots.New(roots.Options{}, rw("notes", root), roots.Root{Name: "inner", Host: root + "/inner"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { set.Close() })
	f.Fuzz(func(t *testing.T, name string) {
		p, err := set.Resolve(name)
		if err != nil {
			if strings.Contains(err.Error(), dir) && !strings.Contains(name, dir) {
				t.Fatalf("%q: the error shows the host path: %v", name, err)
			}
			return
		}
		checkInside(t, p, root)
	})
}

// checkInside asks the system where an accepted path really is.
func checkInside(t *testing.T, p roots.Place, root string) {
	if p.Key() != root && !strings.HasPrefix(p.Key(), root+"/") {
		t.Fatalf("%q resolves to %q, outside of the root", p.Name(), p.Key())
	}
	real, err := filepath.EvalSymlinks(p.Key())
	if err == nil && real != p.Key() {
		t.Fatalf("%q resolves to %q, which is a link to %q", p.Name(), p.Key(), real)
	}
	inner := root + "/inner"
	if act := p.Act(roots.AccessWrite); (p.Key() == inner || strings.HasPrefix(p.Key(), inner+"/")) && act.Verdict != policy.VerdictBlock {
		t.Fatalf("%q can be written though its root is read-only", p.Name())
	}
}

// A root is the folder that it was at the start, and not what has its path now.
func TestRootsThatWereMovedOrReplaced(t *testing.T) {
	dir := tree(t, "notes/a", "other/a", "cur -> notes", "solo/todo.md")
	set := newSet(t, rw("notes", dir+"/notes"), rw("other", dir+"/other"), rw("todo", dir+"/solo/todo.md"))
	before, err := set.Resolve("notes/a")
	must(t, err)
	must(t, before.Anchored())
	must(t, os.Rename(dir+"/notes", dir+"/old"))
	must(t, os.Rename(dir+"/solo", dir+"/old-solo"))
	must(t, os.Mkdir(dir+"/notes", 0o755))
	for _, err := range []error{before.Anchored(), func() error { _, err := set.Resolve("notes/a"); return err }(), func() error { _, err := set.Resolve("todo"); return err }()} {
		if r := (*roots.Refusal)(nil); !errors.As(err, &r) || !strings.Contains(r.Why, "moved or replaced") || strings.Contains(r.Why, dir) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := set.Resolve("other/a"); err != nil {
		t.Errorf("another root: %v", err)
	}
	must(t, os.Remove(dir+"/notes"))
	must(t, os.Rename(dir+"/old", dir+"/notes"))
	if _, err := set.Resolve("notes/a"); err != nil {
		t.Errorf("put back: %v", err)
	}
}

// A link that a root is reached through may come to lead elsewhere.
func TestRootBehindALinkThatLeadsElsewhere(t *testing.T) {
	dir := tree(t, "one/a", "two/a", "cur -> one")
	set := newSet(t, rw("cur", dir+"/cur"))
	must(t, os.Remove(dir+"/cur"))
	must(t, os.Symlink("two", dir+"/cur"))
	if _, err := set.Resolve("cur/a"); err == nil {
		t.Error("the root still leads to the first folder")
	}
}
