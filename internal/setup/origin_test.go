package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOrigin asks git itself: what it says is what an origin says.
func TestOrigin(t *testing.T) {
	top := t.TempDir()
	git := func(dir string, args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	shop, tree, plain := filepath.Join(top, "shop"), filepath.Join(top, "tree"), filepath.Join(top, "plain")
	for _, dir := range []string{filepath.Join(shop, "src", "deep"), plain} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git(shop, "init", "-q", "-b", "main")
	want := func(dir, folder, branch string) {
		t.Helper()
		if o := Origin("claude-code", dir); o.Agent != "claude-code" || o.Folder != folder || o.Branch != branch {
			t.Errorf("%s: %+v, want %s on %s", dir, o, folder, branch)
		}
	}
	want(filepath.Join(shop, "src", "deep"), shop, "main") // without a commit yet
	git(shop, "commit", "-q", "--allow-empty", "-m", "one")
	git(shop, "checkout", "-q", "-b", "fix/the-cart")
	want(shop, shop, "fix/the-cart")
	git(shop, "worktree", "add", "-q", "-b", "other", tree)
	want(tree, tree, "other")
	git(shop, "checkout", "-q", "--detach")
	if o := Origin("", shop); len(o.Branch) != 8 {
		t.Errorf("detached: %q", o.Branch)
	}
	want(plain, plain, "")
	if err := os.WriteFile(filepath.Join(plain, ".git"), []byte("gitdir: nowhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(plain, plain, "")
}
