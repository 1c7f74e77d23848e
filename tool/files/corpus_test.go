package files_test

import (
	"os"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// The file cases of the corpus of bypasses, by their ids. What the corpus calls
// deny is blocked or auto-denied; outside of every root is blocked, where the
// corpus would ask.
func TestCorpus(t *testing.T) {
	w := newWorld(t, setup{
		tree:  map[string]string{"data/proj/src/a.go": "x", "data/proj/src/twin.go": "x", "data/proj/svc/api/.env": "K=1", "data/proj/svc/.env.example": "", "data/proj/svc/.ENV": "K=1", "data/proj/.git/config": "", "home/.ssh/authorized_keys": "mine"},
		roots: []roots.Root{{Name: ".", Host: "data/proj", Mode: roots.ModeReadWrite}},
		rules: []string{
			"allow write_file(src/**)", `allow write_file(app/\[id\]/page.tsx)`,
			"deny read_file(**/.env)", "deny read_file(**/.env.*)", "deny write_file(**/.env)", "deny write_file(**/.env.*)", "except read_file(**/.env.example)",
		},
	})
	for link, target := range map[string]string{
		"src/new": "../../../home/.ssh/authorized_keys", "src/env": "../svc/api/.env", "src/hooks": "../.git", "src/up": "../..", "link": "src",
	} {
		must(t, os.Symlink(target, w.dir+"/data/proj/"+link))
	}
	must(t, os.Link(w.dir+"/data/proj/src/twin.go", w.dir+"/home/twin.go"))
	for _, c := range []struct {
		id, tool, path string
		want           policy.State
	}{
		{"A304", "write_file", "src/a.go", policy.StateAutoApproved},
		{"A305", "write_file", "../proj-evil/src/a.go", policy.StateBlocked},
		{"A307", "write_file", "src/../.git/hooks/pre-commit", policy.StateBlocked},
		{"A310", "read_file", "svc/api/.env", policy.StateAutoDenied},
		{"A318", "write_file", ".git", policy.StateBlocked},
		{"A320", "write_file", "src/new", policy.StateBlocked},
		{"A328", "write_file", ".g\u200cit/config", policy.StateBlocked},
		{"A329", "write_file", `C:\w\proj\.git::$INDEX_ALLOCATION\hooks\x`, policy.StateBlocked},
		{"A329", "write_file", ".git::$INDEX_ALLOCATION/hooks/x", policy.StateBlocked},
		{"A334", "write_file", "app/[id]/page.tsx", policy.StateAutoApproved},
		{"A334", "write_file", "app/i/page.tsx", policy.StatePending},
		// Of the same kinds.
		{"prefix", "write_file", "src-evil/a.go", policy.StatePending},
		{"prefix", "write_file", "/w/proj-evil/src/a.go", policy.StatePending},
		{"traversal", "write_file", "src/x/../../other.go", policy.StatePending},
		{"traversal", "write_file", "src/./../src//a.go", policy.StateAutoApproved},
		{"traversal", "write_file", "src/.git/../a.go", policy.StateAutoApproved},
		{"deny", "read_file", ".env", policy.StateAutoDenied},
		{"deny", "read_file", "svc/.env.local", policy.StateAutoDenied},
		{"deny", "read_file", "svc/.env.example", policy.StateFree},
		{"deny", "write_file", "src/.env", policy.StateAutoDenied},
		{"deny", "delete_file", ".git/config", policy.StateBlocked},
		{"deny", "write_file", ".git/new", policy.StateBlocked},
		{"deny", "write_file", "src/vendor/x/.git/config", policy.StateBlocked},
		{"deny", "write_file", ".assent/policy.yaml", policy.StateBlocked},
		{"deny", "read_file", ".git/config", policy.StateFree},
		{"near", "write_file", "src/.gitignore", policy.StateAutoApproved},
		{"near", "write_file", "src/.github/workflows/x.yml", policy.StateAutoApproved},
		{"symlink", "read_file", "src/env", policy.StateAutoDenied},            // to svc/api/.env
		{"symlink", "write_file", "src/hooks/pre-commit", policy.StateBlocked}, // its parent is a link to .git
		{"symlink", "write_file", "src/up/a.go", policy.StateBlocked},          // its parent is a link out
		{"symlink", "write_file", "link/a.go", policy.StatePending},            // to src, but not written so
		{"hard link", "delete_file", "src/twin.go", policy.StatePending},
		{"case", "write_file", ".GIT/config", policy.StateBlocked},
		{"case", "write_file", ".Git/hooks/x", policy.StateBlocked},
		{"case", "read_file", "svc/.ENV", policy.StatePending}, // a secret by any case
		{"unicode", "write_file", ".git\u200d/config", policy.StateBlocked},
		{"unicode", "write_file", "\ufeff.git/config", policy.StateBlocked},
		{"windows", "write_file", ".git./config", policy.StateBlocked},
		{"windows", "write_file", ".git /config", policy.StateBlocked},
		{"windows", "write_file", `src\..\.git\config`, policy.StateBlocked},
		{"absolute", "read_file", "/etc/passwd", policy.StateBlocked},
		{"absolute", "read_file", "/proc/self/environ", policy.StateBlocked},
		{"absolute", "write_file", "/proc/self/cwd/src/a.go", policy.StateBlocked},
		{"absolute", "read_file", "/dev/stdin", policy.StateBlocked},
		{"home", "read_file", "~/.ssh/id_rsa", policy.StateBlocked},
		{"home", "read_file", "~root/x", policy.StateBlocked},
		{"nul", "write_file", "src/a.go\x00.txt", policy.StateBlocked},
		{"glob", "write_file", "app/[id]/../i/page.tsx", policy.StatePending},
	} {
		a := args{"path": c.path}
		if c.tool == "write_file" {
			a["content"] = "y"
		}
		b := w.gate.Review(t.Context(), callOf(c.tool, a))
		if got := b.Outcome(0); got.State != c.want {
			t.Errorf("%s: %s %s is %v (%s), want %v", c.id, c.tool, c.path, got.State, got.Why, c.want)
		}
	}
}

// A323: a root that is reached through a link is resolved the same way.
func TestCorpusRootBehindALink(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"data/proj/src/a.go": "x"}, roots: []roots.Root{{Name: "unused", Host: "u"}}})
	must(t, os.Symlink("data", w.dir+"/w"))
	linked := newWorldAt(t, w.dir+"/w/proj", "allow write_file("+w.dir+"/w/proj/src/**)")
	r := tool.Call(t.Context(), linked, callOf("write_file", args{"path": "src/a.go", "content": "y"}))
	if r.Outcome.State != policy.StateAutoApproved {
		t.Errorf("%v: %s", r.Outcome.State, r.Text)
	}
}
