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

// hostSet has a writable root with a read-only one and a single file in it, below
// a home folder that is reached through a link.
func hostSet(t *testing.T) (*roots.Set, string) {
	t.Helper()
	dir := tree(t, "data/u/proj/a.go", "data/u/proj/docs/d.md", "data/u/proj/conf.json", "data/u/proj/.git/config", "home -> data",
		"data/u/.ssh/id_rsa", "data/u/.config/assent/policy.yaml", "data/u/other/x",
		"data/u/proj/out -> ../other", "data/u/proj/keys -> ../.ssh/id_rsa", "data/u/proj/in -> docs",
		"data/u/proj/abs -> DIR/home/u/proj/a.go", "into -> data/u/proj", "loop -> loop")
	set := newSetWith(t, roots.Options{Home: dir + "/home/u", Protected: []string{dir + "/home/u/.config/assent"}},
		free("proj", dir+"/home/u/proj"), roots.Root{Name: "docs", Host: dir + "/home/u/proj/docs"},
		rw("conf", dir+"/home/u/proj/conf.json"))
	return set, dir
}

func TestHostPaths(t *testing.T) {
	set, dir := hostSet(t)
	for _, c := range []struct {
		path, name, resolved string
		inside               bool
	}{
		{"/home/u/proj/a.go", "proj/a.go", "proj/a.go", true},
		{"/data/u/proj/a.go", "proj/a.go", "proj/a.go", true},
		{"/home/u/proj/new/b.go", "proj/new/b.go", "proj/new/b.go", true},
		{"/home/u/proj", "proj", "proj", true},
		{"/home/u/other/../proj//./a.go", "proj/a.go", "proj/a.go", true},
		{"/home/u/proj/docs/d.md", "docs/d.md", "docs/d.md", true}, // the innermost wins
		{"/home/u/proj/in/d.md", "proj/in/d.md", "docs/d.md", true},
		{"/home/u/proj/conf.json", "conf", "conf", true},
		{"/home/u/proj/abs", "proj/abs", "proj/a.go", true},
		{"/into/a.go", dir + "/into/a.go", "proj/a.go", true}, // as resolved
		{"/home/u/proj/out/x", "proj/out/x", dir + "/data/u/other/x", false},
		// The system takes .. after the link was followed, unlike who only reads it.
		{"/home/u/proj/out/../other/x", "proj/other/x", dir + "/data/u/other/x", false},
		{"/home/u/other/x", dir + "/home/u/other/x", dir + "/data/u/other/x", false},
		{"/home/u/proj-evil/a.go", dir + "/home/u/proj-evil/a.go", dir + "/data/u/proj-evil/a.go", false},
		{"/home/u/proj/a.go/x", "proj/a.go/x", "proj/a.go/x", false},
		{"/none/../../../../../../../..", "/", "/", false},
	} {
		p, inside, err := set.ResolveHost(dir + c.path)
		must(t, err)
		if inside != c.inside || p.Name() != c.name || p.Resolved() != c.resolved {
			t.Errorf("%s: inside %v, %q, %q", c.path, inside, p.Name(), p.Resolved())
		}
	}
}

func TestHostPathIsSpelledInAllItsWays(t *testing.T) {
	set, dir := hostSet(t)
	p, _, err := set.ResolveHost(dir + "/into/a.go")
	must(t, err)
	target := p.Target()
	if !slices.Contains(target.Written, dir+"/into/a.go") {
		t.Errorf("written %q", target.Written)
	}
	for _, spelling := range []string{"proj/a.go", dir + "/data/u/proj/a.go", dir + "/home/u/proj/a.go"} {
		if !slices.Contains(target.Resolved, spelling) {
			t.Errorf("%s is missing in %q", spelling, target.Resolved)
		}
	}
	root, rel := p.Handle()
	if data, err := root.ReadFile(rel); err != nil || !strings.Contains(string(data), "a.go") {
		t.Errorf("%q, %v", data, err)
	}
}

func TestHostPathsThatAreRefused(t *testing.T) {
	set, dir := hostSet(t)
	for _, path := range []string{"", "a", "./a", "~/a", "/a\x00b", "/\xff", "/" + strings.Repeat("x/", 3000), dir + "/loop"} {
		_, _, err := set.ResolveHost(path)
		if r := (*roots.Refusal)(nil); !errors.As(err, &r) {
			t.Errorf("%.20q: %v", path, err)
		}
	}
}

func TestHostActs(t *testing.T) {
	set, dir := hostSet(t)
	const ask, free, block = policy.VerdictAsk, policy.VerdictFree, policy.VerdictBlock
	for _, c := range []struct {
		path                       string
		access                     roots.Access
		want                       policy.Verdict
		byName, secret, personOnly bool
	}{
		{"/home/u/proj/a.go", roots.AccessWrite, free, false, false, false},
		{"/home/u/proj/docs/d.md", roots.AccessWrite, block, false, false, false},
		{"/home/u/proj/in/d.md", roots.AccessWrite, block, false, false, false},
		{"/home/u/proj/.git/config", roots.AccessWrite, block, false, false, false},
		{"/home/u/proj/.GIT/hooks/x", roots.AccessWrite, block, false, false, false},
		{"/into/a.go", roots.AccessWrite, ask, true, false, false}, // the name lies outside
		{"/home/u/proj/out/x", roots.AccessRead, ask, true, false, false},
		{"/home/u/other/x", roots.AccessRead, ask, true, false, false},
		{"/home/u/other/x", roots.AccessDelete, ask, true, false, false},
		{"/home/u/.ssh/id_rsa", roots.AccessRead, ask, true, true, false},
		{"/home/u/proj/keys", roots.AccessRead, ask, true, true, false},
		{"/home/u/other/.git/config", roots.AccessWrite, block, false, false, false},
		{"/home/u/other/.git/config", roots.AccessRead, ask, true, false, false},
		{"/home/u/other/.assent/x", roots.AccessDelete, block, false, false, false},
		{"/home/u/.config/assent/policy.yaml", roots.AccessWrite, block, false, false, false},
		{"/data/u/.config/assent/policy.yaml", roots.AccessDelete, block, false, false, false},
		{"/home/u/.config", roots.AccessDelete, block, false, false, false}, // assent's own lies in it
		{"/home/u/.config", roots.AccessWrite, ask, true, false, true},
		{"/home/u/proj", roots.AccessDelete, ask, false, false, true},
		{"/data/u/proj/docs", roots.AccessWrite, block, false, false, false},
		{"/into", roots.AccessDelete, ask, true, false, true},
	} {
		p, _, err := set.ResolveHost(dir + c.path)
		must(t, err)
		act := p.Act(c.access)
		if act.Verdict != c.want || act.ByName != c.byName && c.want != block || act.Secret != c.secret || act.PersonOnly != c.personOnly && c.want != block {
			t.Errorf("%s %s: %v, by name %v, secret %v, person only %v: %s", c.access, c.path, act.Verdict, act.ByName, act.Secret, act.PersonOnly, act.Why)
		}
	}
}

// What everything depends on is deleted or replaced by a person's own word only.
func TestOutsideActsOnWhatEverythingLiesIn(t *testing.T) {
	dir := tree(t, "home/u/proj/")
	set := newSetWith(t, roots.Options{Home: dir + "/home/u"}, free("proj", dir+"/home/u/proj"))
	for _, path := range []string{"/", dir, dir + "/home", dir + "/home/u", dir + "/home/u/proj"} {
		for _, access := range []roots.Access{roots.AccessWrite, roots.AccessDelete} {
			if act := set.OutsideAct(access, path, path); act.Verdict != policy.VerdictAsk || !act.PersonOnly {
				t.Errorf("%s %s: %v, person only %v", access, path, act.Verdict, act.PersonOnly)
			}
		}
		if act := set.OutsideAct(roots.AccessRead, path, path); act.PersonOnly {
			t.Errorf("read %s is for a person only", path)
		}
	}
	apart := newSetWith(t, roots.Options{Home: "/nowhere/u"}, free("proj", dir+"/home/u/proj"))
	for path, want := range map[string]bool{"/nowhere/u": true, "/nowhere": true, "/nowhere/u/x": false, "/elsewhere": false} {
		if act := apart.OutsideAct(roots.AccessDelete, path, path); act.PersonOnly != want {
			t.Errorf("%s: person only %v", path, act.PersonOnly)
		}
	}
	act := set.OutsideAct(roots.AccessWrite, "/etc/../etc/x", "/srv/y")
	if act.String() != "write_file(/etc/x → /srv/y)" || !act.ByName || !act.Known || act.PersonOnly {
		t.Errorf("%s: %+v", act, act)
	}
}

// The links below a process mean another file to the process that follows them.
func TestHostPathsOfAProcess(t *testing.T) {
	set, _ := hostSet(t)
	for path, known := range map[string]bool{
		"/proc/self/status": true, "/proc/self": true, "/proc/meminfo": true,
		"/proc/self/cwd/x": false, "/proc/self/root/etc/passwd": false, "/proc/self/fd/1": false, "/proc/1/root/etc/passwd": false, "/proc/self/exe": false,
	} {
		p, inside, err := set.ResolveHost(path)
		must(t, err)
		act := p.Act(roots.AccessRead)
		if inside || act.Known != known || act.PersonOnly == known || act.Verdict != policy.VerdictAsk || act.Target.Unknown == known {
			t.Errorf("%s: %+v", path, act)
		}
	}
}

// Of a single file that is a root, only that name is in it.
func TestHostPathOfAFurtherName(t *testing.T) {
	dir := tree(t, "todo.md", "d/")
	must(t, os.Link(dir+"/todo.md", dir+"/d/twin.md"))
	set := newSet(t, free("todo", dir+"/todo.md"))
	for path, want := range map[string]bool{"/todo.md": true, "/d/twin.md": false, "/d/../todo.md": true, "/d": false} {
		p, inside, err := set.ResolveHost(dir + path)
		must(t, err)
		if inside != want {
			t.Errorf("%s: inside %v", path, inside)
		}
		if act := p.Act(roots.AccessWrite); act.Verdict != policy.VerdictAsk {
			t.Errorf("%s: %v", path, act.Verdict) // it has two names
		}
	}
}

// A deny by any spelling is met, and an allow must hold for both.
func TestRulesOnHostPaths(t *testing.T) {
	set, dir := hostSet(t)
	for rule, path := range map[string]string{
		"deny read_file(" + dir + "/data/u/other/**)": "/home/u/proj/out/x",
		"deny read_file(proj/out/**)":                 "/home/u/proj/out/x",
		"deny read_file(proj/a.go)":                   "/into/a.go",
		"deny read_file(docs/**)":                     "/data/u/proj/in/d.md",
		"deny read_file(" + dir + "/home/u/proj/**)":  "/into/a.go",
	} {
		p, _, err := set.ResolveHost(dir + path)
		must(t, err)
		if !denied(t, rule, p.Act(roots.AccessRead)) {
			t.Errorf("%s does not meet %s", rule, path)
		}
	}
}

func FuzzHostPath(f *testing.F) {
	for _, seed := range []string{"/", "root/a", "root/out/../x", "link/../root/in/back/a", "root/in/../../y", "root/./..//root", "none/../root/a"} {
		f.Add(seed)
	}
	dir, err := filepath.EvalSymlinks(f.TempDir())
	must(f, err)
	must(f, os.MkdirAll(dir+"/root/inner", 0o755))
	must(f, os.WriteFile(dir+"/root/a", nil, 0o644))
	for link, target := range map[string]string{"root/out": "..", "root/in": "inner", "root/inner/back": "..", "link": "root/inner", "root/abs": dir} {
		must(f, os.Symlink(target, filepath.Join(dir, link)))
	}
	set, err := roots.New(roots.Options{}, rw("root", dir+"/root"), roots.Root{Name: "inner", Host: dir + "/root/inner"})
	must(f, err)
	f.Cleanup(func() { set.Close() })
	f.Fuzz(func(t *testing.T, name string) {
		p, inside, err := set.ResolveHost(dir + "/" + name)
		if err != nil {
			return
		}
		if real, err := filepath.EvalSymlinks(dir + "/" + name); err == nil {
			if real != p.Key() {
				t.Fatalf("%q is %q, the system says %q", name, p.Key(), real)
			}
			if in := real == dir+"/root" || strings.HasPrefix(real, dir+"/root/"); in != inside {
				t.Fatalf("%q is %q: inside %v", name, real, inside)
			}
		}
		if !inside && p.Act(roots.AccessWrite).Verdict == policy.VerdictFree {
			t.Fatalf("%q lies outside and can be written freely", name)
		}
	})
}
