package roots_test

import (
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

func TestDefaults(t *testing.T) {
	dir := tree(t, "ro/a", "rw/a")
	set := newSet(t, roots.Root{Name: "ro", Host: dir + "/ro"}, rw("rw", dir+"/rw"))
	wantVerdict(t, set, "ro/a", roots.AccessRead, policy.VerdictFree)
	wantVerdict(t, set, "ro/a", roots.AccessWrite, policy.VerdictBlock)
	wantVerdict(t, set, "ro/a", roots.AccessDelete, policy.VerdictBlock)
	wantVerdict(t, set, "rw/a", roots.AccessRead, policy.VerdictFree)
	wantVerdict(t, set, "rw/a", roots.AccessWrite, policy.VerdictAsk)
	act := wantVerdict(t, set, "rw/a", roots.AccessDelete, policy.VerdictAsk)
	if act.Name != policy.ActDeleteFile || !act.Known || act.ByName || act.PersonOnly {
		t.Errorf("an odd act: %+v", act)
	}
}

func TestApprovalPerAccess(t *testing.T) {
	dir := tree(t, "a")
	r := rw("notes", dir)
	r.Approval = map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictAsk, roots.AccessWrite: policy.VerdictFree, roots.AccessDelete: policy.VerdictBlock}
	r.Reason, r.Source = "notes are forever", "policy.yaml:7"
	set := newSet(t, r)
	if act := wantVerdict(t, set, "notes/a", roots.AccessRead, policy.VerdictAsk); !strings.Contains(act.Why, "policy.yaml:7 asks before reads of notes") {
		t.Errorf("why: %s", act.Why)
	}
	wantVerdict(t, set, "notes/a", roots.AccessWrite, policy.VerdictFree)
	if act := wantVerdict(t, set, "notes/a", roots.AccessDelete, policy.VerdictBlock); act.Why != "notes/a: notes are forever (policy.yaml:7)" {
		t.Errorf("why: %s", act.Why)
	}
}

func TestSuffixesAndSize(t *testing.T) {
	dir := tree(t, "a.md", "b.exe", "c.md -> b.exe")
	r := rw("notes", dir)
	r.Suffixes, r.MaxFileBytes = []string{".md", ".txt"}, 10
	set := newSet(t, r)
	wantVerdict(t, set, "notes/a.md", roots.AccessRead, policy.VerdictFree)
	wantVerdict(t, set, "notes/A.MD", roots.AccessWrite, policy.VerdictAsk)
	if act := wantVerdict(t, set, "notes/b.exe", roots.AccessRead, policy.VerdictBlock); !strings.Contains(act.Why, `".exe"`) || !strings.Contains(act.Why, ".md") {
		t.Errorf("why: %s", act.Why)
	}
	wantVerdict(t, set, "notes/c.md", roots.AccessRead, policy.VerdictBlock)
	p, err := set.Resolve("notes/a.md")
	must(t, err)
	if p.Fits(10) != nil || p.Fits(11) == nil {
		t.Error("the size limit is not the limit")
	}
	if folder, err := set.Resolve("notes"); err != nil || folder.FolderAct(roots.AccessRead).Verdict != policy.VerdictFree {
		t.Errorf("a folder needs no suffix: %v", err)
	}
}

func TestNestedRoots(t *testing.T) {
	dir := tree(t, "proj/docs/a.md", "proj/b.md", "proj/conf.json", "proj/link -> docs", "proj/clink -> conf.json")
	set := newSet(t, free("proj", dir+"/proj"),
		roots.Root{Name: "docs", Host: dir + "/proj/docs"}, roots.Root{Name: "conf", Host: dir + "/proj/conf.json"})
	for _, name := range []string{
		"docs/a.md", "proj/docs/a.md", "proj/docs/new.md", "proj/link/a.md", "proj/link/new", "/proj//./docs/../docs/a.md",
		"conf", "proj/conf.json", "proj/clink",
	} {
		wantVerdict(t, set, name, roots.AccessWrite, policy.VerdictBlock)
		wantVerdict(t, set, name, roots.AccessDelete, policy.VerdictBlock)
		wantVerdict(t, set, name, roots.AccessRead, policy.VerdictFree)
	}
	wantVerdict(t, set, "proj/b.md", roots.AccessWrite, policy.VerdictFree)
	p, err := set.Resolve("proj/docs/a.md")
	must(t, err)
	if p.Resolved() != "docs/a.md" || p.Target().Resolved[0] != "docs/a.md" {
		t.Errorf("resolves to %s, %q", p.Resolved(), p.Target().Resolved)
	}
	// A deny by either name is met by the file under the other.
	for _, rule := range []string{"deny read_file(docs/**)", "deny read_file(proj/docs/**)"} {
		for _, name := range []string{"docs/a.md", "proj/docs/a.md", "proj/link/a.md"} {
			if !denied(t, rule, verdict(t, set, name, roots.AccessRead)) {
				t.Errorf("%s does not meet %s", rule, name)
			}
		}
	}
}

// denied judges an act under one rule.
func denied(t *testing.T, rule string, act policy.Act) bool {
	t.Helper()
	call := policy.Call{Tool: act.Name}
	j := policy.Policy{Fixed: approvaltest.Rules(t, rule)}.Judge(policy.Question{Call: &call, Acts: []policy.Act{act}})
	return j.State == policy.StateAutoDenied
}

func TestMalformedRoots(t *testing.T) {
	dir := tree(t, "a/")
	for _, r := range []roots.Root{
		{Name: "", Host: dir}, {Name: "..", Host: dir}, {Name: "a/b", Host: dir}, {Name: "~x", Host: dir}, {Name: `a\b`, Host: dir},
		{Name: "c:", Host: dir}, {Name: "a\x00", Host: dir}, {Name: "x"}, {Name: "x", Host: dir + "/missing"}, {Name: "x", Host: "/dev/null"},
		{Name: "x", Host: dir, Mode: "wo"}, {Name: "x", Host: dir, MaxFileBytes: -1},
		{Name: "x", Host: dir, Approval: map[roots.Access]policy.Verdict{"run": policy.VerdictAsk}},
	} {
		if _, err := roots.New(roots.Options{}, r); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
	if _, err := roots.New(roots.Options{Secrets: []string{"[a"}}); err == nil {
		t.Error("a malformed pattern is accepted")
	}
}

func TestSecrets(t *testing.T) {
	dir := tree(t)
	set := newSet(t, free("p", dir))
	for _, name := range []string{
		".env", "api/.env", ".env.local", ".ENV", "id_rsa", "x/server.pem", "x/a.key", ".ssh/config", ".aws/credentials",
		".gnupg/x/y", ".netrc", ".npmrc", "home/.kube/config", ".docker/config.json", ".config/gcloud/x", ".e\u200bnv",
	} {
		for _, a := range []roots.Access{roots.AccessRead, roots.AccessWrite} {
			if act := wantVerdict(t, set, "p/"+name, a, policy.VerdictAsk); !act.ByName || !strings.Contains(act.Why, "secret") {
				t.Errorf("%s: %+v", name, act)
			}
		}
	}
	for _, name := range []string{".env.example", "env", "a.env.txt", "id_rsa.pub", "monkey", "key", ".kube/cache", "config.json", "ssh"} {
		wantVerdict(t, set, "p/"+name, roots.AccessRead, policy.VerdictFree)
	}
	custom := newSetWith(t, roots.Options{Secrets: []string{"private"}}, free("p", dir))
	wantVerdict(t, custom, "p/private/x", roots.AccessRead, policy.VerdictAsk)
	wantVerdict(t, custom, "p/.env", roots.AccessRead, policy.VerdictFree)
	none := newSetWith(t, roots.Options{Secrets: []string{}}, free("p", dir))
	wantVerdict(t, none, "p/.env", roots.AccessRead, policy.VerdictFree)
}

func TestSecretBehindALink(t *testing.T) {
	dir := tree(t, ".env", "plain.txt -> .env")
	set := newSet(t, free("p", dir))
	wantVerdict(t, set, "p/plain.txt", roots.AccessRead, policy.VerdictAsk)
}

func TestProtectedNames(t *testing.T) {
	dir := tree(t, ".git/config", "sub/.git/hooks/x", "gl -> .git", "a.txt")
	set := newSet(t, free("p", dir))
	for _, name := range []string{
		".git", ".git/config", ".git/hooks/pre-commit", "src/../.git/hooks/pre-commit", "sub/.git/x", ".GIT/config", ".Git",
		".g\u200cit/config", ".git./x", ".git /x", ".git::$INDEX_ALLOCATION/hooks/x", "gl/config", ".assent/policy.yaml", ".assent", "x/.ASSENT/y",
	} {
		wantVerdict(t, set, "p/"+name, roots.AccessWrite, policy.VerdictBlock)
		wantVerdict(t, set, "p/"+name, roots.AccessDelete, policy.VerdictBlock)
		wantVerdict(t, set, "p/"+name, roots.AccessRead, policy.VerdictFree)
	}
	for _, name := range []string{".gitignore", ".github/x", "git", "a.git/x"} {
		wantVerdict(t, set, "p/"+name, roots.AccessWrite, policy.VerdictFree)
	}
}

func TestProtectedPaths(t *testing.T) {
	dir := tree(t, "home/.config/assent/config.yaml", "home/a", "home/link -> .config/assent", "state -> home/.local")
	set := newSetWith(t, roots.Options{Protected: []string{dir + "/home/.config/assent", dir + "/state/assent", dir + "/home/one.db"}}, free("h", dir+"/home"))
	for _, name := range []string{".config/assent/config.yaml", ".config/assent", ".config/Assent/new", "link/config.yaml", "one.db", ".local/assent/x"} {
		wantVerdict(t, set, "h/"+name, roots.AccessWrite, policy.VerdictBlock)
		wantVerdict(t, set, "h/"+name, roots.AccessDelete, policy.VerdictBlock)
	}
	wantVerdict(t, set, "h/.config", roots.AccessDelete, policy.VerdictBlock)
	wantVerdict(t, set, "h/.config/assent-two", roots.AccessWrite, policy.VerdictFree)
}

func TestRootsThemselvesAreForAPerson(t *testing.T) {
	dir := tree(t, "p/sub/inner/", "p/f.txt")
	set := newSet(t, free("p", dir+"/p"), free("inner", dir+"/p/sub/inner"), free("f", dir+"/p/f.txt"))
	for name, want := range map[string]bool{"p": true, "inner": true, "p/sub": true, "p/sub/inner": true, "f": true, "p/f.txt": true, "p/other": false} {
		act := verdict(t, set, name, roots.AccessDelete)
		if act.PersonOnly != want || act.Verdict == policy.VerdictBlock {
			t.Errorf("delete %s: %+v", name, act)
		}
	}
	if act := verdict(t, set, "f", roots.AccessWrite); act.PersonOnly || act.Verdict != policy.VerdictFree {
		t.Errorf("writing the content of a file that is a root: %+v", act)
	}
}

func TestHardLinks(t *testing.T) {
	dir := tree(t, "p/a", "p/alone")
	must(t, os.Link(dir+"/p/a", dir+"/outside"))
	set := newSet(t, free("p", dir+"/p"))
	if act := wantVerdict(t, set, "p/a", roots.AccessWrite, policy.VerdictAsk); !act.ByName {
		t.Errorf("%+v", act)
	}
	wantVerdict(t, set, "p/a", roots.AccessRead, policy.VerdictFree)
	wantVerdict(t, set, "p/alone", roots.AccessWrite, policy.VerdictFree)
}

func TestNarrow(t *testing.T) {
	dir := tree(t, "proj/docs/a", "proj/src/a", "other/")
	proj := free("proj", dir+"/proj")
	proj.MaxFileBytes = 10
	parent := newSet(t, proj, roots.Root{Name: "docs", Host: dir + "/proj/docs"})
	child, err := parent.Narrow(roots.Options{}, roots.Root{Name: "src", Host: dir + "/proj/src"})
	must(t, err)
	defer child.Close()
	wantVerdict(t, child, "src/a", roots.AccessWrite, policy.VerdictBlock)
	grandchild, err := child.Narrow(roots.Options{}, free("again", dir+"/proj/src"))
	must(t, err)
	defer grandchild.Close()
	wantVerdict(t, grandchild, "again/a", roots.AccessWrite, policy.VerdictBlock)
	wantVerdict(t, grandchild, "again/a", roots.AccessRead, policy.VerdictFree)
	wantVerdict(t, parent, "proj/src/a", roots.AccessWrite, policy.VerdictFree)

	wide, err := parent.Narrow(roots.Options{Secrets: []string{}}, free("w", dir+"/proj"))
	must(t, err)
	defer wide.Close()
	wantVerdict(t, wide, "w/docs/a", roots.AccessWrite, policy.VerdictBlock)
	wantVerdict(t, wide, "w/.env", roots.AccessRead, policy.VerdictAsk)
	wantVerdict(t, wide, "w/x", roots.AccessWrite, policy.VerdictFree)
	if p, err := wide.Resolve("w/x"); err != nil || p.Fits(10) != nil || p.Fits(11) == nil {
		t.Errorf("the parent's size limit is not kept: %v", err)
	}
	if _, err := parent.Narrow(roots.Options{}, rw("other", dir+"/other")); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("a root outside of the parent's: %v", err)
	}
	if _, err := child.Narrow(roots.Options{}, rw("up", dir+"/proj")); err == nil {
		t.Error("a child reaches above its own roots")
	}
}

// A yes is kept for the session only where nothing but such a root asks.
func TestOncePerSession(t *testing.T) {
	dir := tree(t, "a", ".env", "in/b", "link", "ro")
	must(t, os.Link(dir+"/link", dir+"/in/link"))
	must(t, os.Chmod(dir+"/ro", 0o444))
	r := rw("p", dir)
	r.Approval = map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictAsk, roots.AccessDelete: policy.VerdictAsk}
	r.Once, r.Source = []roots.Access{roots.AccessRead, roots.AccessWrite}, "policy.yaml:7"
	inner := rw("in", dir+"/in")
	inner.Approval = map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictAsk}
	set := newSet(t, r, inner)
	for _, c := range []struct {
		name   string
		access roots.Access
		want   bool
	}{
		{"p/a", roots.AccessRead, true}, {"p/a", roots.AccessWrite, true}, {"p/a", roots.AccessDelete, false}, {"p", roots.AccessRead, true},
		{"p/.env", roots.AccessRead, false}, {"p/link", roots.AccessWrite, false}, {"p/link", roots.AccessRead, true}, {"p/ro", roots.AccessWrite, false},
		{"p/in/b", roots.AccessRead, false}, {"in/b", roots.AccessRead, false},
	} {
		p, err := set.Resolve(c.name)
		must(t, err)
		if p.OncePerSession(c.access) != c.want {
			t.Errorf("%s %s: %v", c.access, c.name, !c.want)
		}
	}
	if act := wantVerdict(t, set, "p/a", roots.AccessWrite, policy.VerdictAsk); !strings.Contains(act.Why, "policy.yaml:7 asks once per session before writes to p") {
		t.Errorf("why: %s", act.Why)
	}
	for _, bad := range []roots.Root{
		{Name: "x", Host: dir, Once: []roots.Access{roots.AccessRead}}, // free by default
		{Name: "x", Host: dir, Once: []roots.Access{"run"}},
	} {
		if _, err := roots.New(roots.Options{}, bad); err == nil || !strings.Contains(err.Error(), "once per session") {
			t.Errorf("got %v", err)
		}
	}
}

// What the file itself says about being changed is asked about, whatever the root
// says.
func TestFilesThatAskThemselves(t *testing.T) {
	dir := tree(t, "plain", "linked", "readonly", "d/x")
	must(t, os.Link(dir+"/linked", dir+"/other"))
	must(t, os.Chmod(dir+"/readonly", 0o444))
	set := newSet(t, free("p", dir))
	for name, want := range map[string]policy.Verdict{"p/plain": policy.VerdictFree, "p/linked": policy.VerdictAsk, "p/readonly": policy.VerdictAsk, "p/d": policy.VerdictFree} {
		for _, access := range []roots.Access{roots.AccessWrite, roots.AccessDelete} {
			act := wantVerdict(t, set, name, access, want)
			if act.ByName != (want == policy.VerdictAsk) {
				t.Errorf("%s %s: by name %v", access, name, act.ByName)
			}
		}
		wantVerdict(t, set, name, roots.AccessRead, policy.VerdictFree)
	}
}
