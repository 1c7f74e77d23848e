package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/internal/realpath"
)

func TestTheScopeIsTheProjectOfTheCalls(t *testing.T) {
	top, err := realpath.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(top, "home")
	t.Setenv("HOME", home)
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(top, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const policy = "version: 1\n"
	write("repo/.git/HEAD", "")
	write("repo/src/deep/file", "")
	write("repo/app/.assent/policy.yaml", policy)
	write("repo/app/src/file", "")
	write("repo/app/named.yaml", policy)
	write("repo/app/workers/coder.worker", "---\nname: coder\n---\nDo it.\n")
	write("repo/lib/workers/coder.worker", "---\nname: coder\n---\nDo it.\n")
	write("tree/.git", "gitdir: ../repo/.git/worktrees/tree\n")
	write("plain/src/file", "")
	write("home/.git/HEAD", "") // dotfiles
	write("home/notes/file", "")
	write("home/code/.git/HEAD", "")
	if err := os.Symlink("repo", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir, file, worker, want string
	}{
		"the top of a repository":             {dir: "repo", want: "repo"},
		"a folder of it":                      {dir: "repo/src/deep", want: "repo"},
		"with a slash":                        {dir: "repo/src/", want: "repo"},
		"through a link":                      {dir: "link/src", want: "repo"},
		"a policy in a part of it":            {dir: "repo/app/src", want: "repo/app"},
		"the same through a link":             {dir: "link/app/src", want: "repo/app"},
		"a worktree":                          {dir: "tree", want: "tree"},
		"no repository":                       {dir: "plain/src", want: "plain/src"},
		"the home folder's repository":        {dir: "home/notes", want: "home/notes"},
		"the home folder":                     {dir: "home", want: "home"},
		"a repository in the home folder":     {dir: "home/code", want: "home/code"},
		"a policy that is named":              {dir: "plain", file: "link/app/named.yaml", want: "repo/app"},
		"a worker":                            {dir: "plain", worker: "link/app/workers/coder.worker", want: "repo/app"},
		"a worker in a repository":            {dir: "plain", worker: "repo/lib/workers/coder.worker", want: "repo"},
		"a folder that is not there any more": {dir: "plain/gone", want: "plain/gone"},
	} {
		order := Order{Dir: filepath.Join(top, c.dir), Places: Places{Config: filepath.Join(top, "config"),
			State: filepath.Join(top, "state")}}
		if c.file != "" {
			order.File = filepath.Join(top, c.file)
		}
		if c.worker != "" {
			order.Worker = filepath.Join(top, c.worker)
		}
		s, err := Resolve(t.Context(), order)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := filepath.Join(top, c.want); s.Scope != want {
			t.Errorf("%s: %s, want %s", name, s.Scope, want)
		}
	}
}
