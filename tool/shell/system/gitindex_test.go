package system_test

import (
	"os"
	"testing"

	"github.com/assent-dev/assent/tool/shell/system"
)

// committed makes a repository with a commit.
func committed(t *testing.T) (dir, home string) {
	t.Helper()
	dir, home = repository(t, "[user]\nname = a\nemail = b\n")
	put(t, dir+"/file", "x")
	git(t, home, dir, "add", "file")
	git(t, home, dir, "commit", "-q", "-m", "x")
	return dir, home
}

func TestGitHooks(t *testing.T) {
	dir, home := committed(t)
	git(t, home, dir, "worktree", "add", "-q", "../tree")
	must(t, os.MkdirAll(dir+"/sub", 0o700))
	outside := folder(t)
	for at, want := range map[string]string{
		dir: dir + "/.git/hooks", dir + "/sub": dir + "/.git/hooks", dir + "/../tree": dir + "/.git/hooks", outside: "",
	} {
		if got, ok := system.New(dir, environment(home)).GitHooks(at); !ok || got != want {
			t.Errorf("%s: hooks %q, ok %v; want %q", at, got, ok, want)
		}
	}
	put(t, dir+"/sub/.git", "not a pointer")
	if got, ok := system.New(dir, environment(home)).GitHooks(dir + "/sub"); ok {
		t.Errorf("a pointer that cannot be read: hooks %q", got)
	}
}

func TestGitNested(t *testing.T) {
	nested := func(dir, home string) bool { return system.New(dir, environment(home)).GitNested(dir) }
	for name, how := range map[string][]string{
		"plain":       {"update-index", "-q", "--refresh"},
		"version 4":   {"update-index", "--index-version", "4"},
		"split index": {"update-index", "--split-index"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, home := committed(t)
			if nested(dir, home) {
				t.Error("a repository without submodules has some")
			}
			inner, _ := committed(t)
			must(t, os.Rename(inner, dir+"/sub"))
			git(t, home, dir, "-c", "advice.addEmbeddedRepo=false", "add", "sub") // no .gitmodules says so
			git(t, home, dir, how...)
			if !nested(dir, home) {
				t.Error("a submodule is overlooked")
			}
		})
	}
	dir, home := committed(t)
	put(t, dir+"/.git/index", "broken")
	if !nested(dir, home) {
		t.Error("an index that cannot be read is said to name no submodules")
	}
	if outside := folder(t); nested(outside, home) {
		t.Error("a folder without a repository has submodules")
	}
}
