package files_test

import (
	"os"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// The file cases of the corpus of bypasses, by their ids. What the corpus calls
// deny is blocked or auto-denied; outside of every root is blocked, where the
// corpus would ask.
func TestCorpus(t *testing.T) {
	w := newWorld(t, setup{
		tree:  map[string]string{"data/proj/src/a.go": "x", "data/proj/svc/api/.env": "K=1", "data/proj/.git/config": "", "home/.ssh/authorized_keys": "mine"},
		roots: []roots.Root{{Name: ".", Host: "data/proj", Mode: roots.ReadWrite}},
		rules: []string{
			"allow write_file(src/**)", `allow write_file(app/\[id\]/page.tsx)`,
			"deny read_file(**/.env)", "deny read_file(**/.env.*)", "deny write_file(**/.env)", "deny write_file(**/.env.*)",
		},
	})
	must(t, os.Symlink("../../../home/.ssh/authorized_keys", w.dir+"/data/proj/src/new"))
	for _, c := range []struct {
		id, tool, path string
		want           approval.State
	}{
		{"A304", "write_file", "src/a.go", approval.AutoApproved},
		{"A305", "write_file", "../proj-evil/src/a.go", approval.Blocked},
		{"A307", "write_file", "src/../.git/hooks/pre-commit", approval.Blocked},
		{"A310", "read_file", "svc/api/.env", approval.AutoDenied},
		{"A318", "write_file", ".git", approval.Blocked},
		{"A320", "write_file", "src/new", approval.Blocked},
		{"A328", "write_file", ".g\u200cit/config", approval.Blocked},
		{"A329", "write_file", `C:\w\proj\.git::$INDEX_ALLOCATION\hooks\x`, approval.Blocked},
		{"A329", "write_file", ".git::$INDEX_ALLOCATION/hooks/x", approval.Blocked},
		{"A334", "write_file", "app/[id]/page.tsx", approval.AutoApproved},
		{"A334", "write_file", "app/i/page.tsx", approval.Pending},
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
	if r.Outcome.State != approval.AutoApproved {
		t.Errorf("%v: %s", r.Outcome.State, r.Text)
	}
}
