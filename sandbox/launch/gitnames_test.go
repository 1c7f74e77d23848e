package launch_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// repository makes a repository whose settings are these, and a user who has none.
func repository(t *testing.T, settings ...string) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	top := filepath.Join(home, "work")
	git(t, home, "init", "-q", top)
	for _, s := range settings {
		key, value, _ := strings.Cut(strings.ReplaceAll(s, "TOP", top), "=")
		git(t, top, "config", key, value)
	}
	return top
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// protectedIn returns what is protected in a root, besides .git and .assent, below it.
func protectedIn(t *testing.T, root string, gitWrite bool) []string {
	t.Helper()
	p := sandbox.Profile{Roots: []sandbox.Root{{Path: root, Mode: sandbox.ModeReadWrite, Guarded: true}}, GitWrite: gitWrite}
	layout, err := launch.Survey(p)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, place := range layout.Protected {
		name := strings.TrimPrefix(strings.TrimPrefix(place.Path, root), "/")
		if !strings.HasPrefix(name, ".git/") && name != ".git" && name != ".assent" {
			out = append(out, name+" "+string(place.Kind))
		}
	}
	slices.Sort(out)
	return out
}

func TestWhatSettingsOfGitNameIsProtected(t *testing.T) {
	for name, tt := range map[string]struct {
		settings []string
		want     []string
	}{
		"nothing":               {nil, nil},
		"hooks":                 {[]string{"core.hooksPath=.husky"}, []string{".husky absent"}},
		"hooks in full":         {[]string{"core.hooksPath=TOP/tools/hooks"}, []string{"tools absent"}},
		"hooks that are there":  {[]string{"core.hooksPath=there"}, []string{"there folder"}},
		"hooks nowhere":         {[]string{"core.hooksPath=/dev/null"}, nil},
		"hooks without a name":  {[]string{"core.hooksPath="}, nil},
		"hooks elsewhere":       {[]string{"core.hooksPath=~/hooks"}, nil},
		"hooks of the user":     {[]string{"core.hooksPath=~/work/mine"}, []string{"mine absent"}},
		"the usual hooks":       {[]string{"core.hooksPath=.git/hooks"}, nil},
		"an include":            {[]string{"include.path=../more"}, []string{"more absent file"}},
		"under a condition":     {[]string{"includeIf.gitdir:/x.path=../more"}, []string{"more absent file"}},
		"an include that names": {[]string{"include.path=../with"}, []string{"deep absent file", "far absent", "with file"}},
		"of the work tree":      {[]string{"extensions.worktreeConfig=true", "core.hooksPath=a"}, []string{"a absent"}},
	} {
		t.Run(name, func(t *testing.T) {
			top := repository(t, tt.settings...)
			for file, text := range map[string]string{"there/x": "", "with": "[core]\nhooksPath = far\n[include]\npath = deep\n"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(top, file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(top, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, gitWrite := range []bool{false, true} {
				if got := protectedIn(t, top, gitWrite); !slices.Equal(got, tt.want) {
					t.Errorf("git_write %v: %q, want %q", gitWrite, got, tt.want)
				}
			}
		})
	}
}

// The settings of the user hold for every repository.
func TestHooksOfTheUsersOwnSettings(t *testing.T) {
	top := repository(t)
	git(t, top, "config", "--global", "core.hooksPath", ".githooks")
	if got := protectedIn(t, top, false); !slices.Equal(got, []string{".githooks absent"}) {
		t.Errorf("%q", got)
	}
}

// A root in a repository can hold its hooks, though its .git is out of reach.
func TestHooksOfARepositoryAbove(t *testing.T) {
	top := repository(t, "core.hooksPath=sub/hooks")
	if err := os.MkdirAll(filepath.Join(top, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := protectedIn(t, filepath.Join(top, "sub"), false); !slices.Equal(got, []string{"hooks absent"}) {
		t.Errorf("%q", got)
	}
}

// A work tree has its settings where its .git says.
func TestHooksOfAWorkTree(t *testing.T) {
	top := repository(t, "core.hooksPath=.husky", "user.name=n", "user.email=e")
	git(t, top, "commit", "-q", "--allow-empty", "-m", "x")
	tree := filepath.Join(filepath.Dir(top), "tree")
	git(t, top, "worktree", "add", "-q", tree)
	if got := protectedIn(t, tree, false); !slices.Equal(got, []string{".husky absent"}) {
		t.Errorf("%q", got)
	}
}

// A link could be turned elsewhere, so a folder of hooks that is one is refused.
func TestHooksBehindALinkAreRefused(t *testing.T) {
	top := repository(t, "core.hooksPath=.husky")
	if err := os.Symlink("there", filepath.Join(top, ".husky")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(top, "there"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := launch.Survey(sandbox.Profile{Roots: []sandbox.Root{{Path: top, Mode: sandbox.ModeReadWrite, Guarded: true}}})
	if err == nil || !strings.Contains(err.Error(), "core.hooksPath in "+top+"/.git/config") || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
}

// The user's own settings name the same places for git in every folder: a root need not be
// a repository to hold them, and a link may lead to it.
func TestWhatTheUsersSettingsNameIsProtectedEverywhere(t *testing.T) {
	top := repository(t)
	home, plain := filepath.Dir(top), filepath.Join(filepath.Dir(top), "plain")
	err := errors.Join(
		os.Mkdir(plain, 0o700), os.Symlink(home, filepath.Join(home, "same")), os.Symlink(plain+"/later", filepath.Join(home, "dangling")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"by its path": "~/plain/later", "through a link": "~/same/plain/later", "through a link that leads nowhere yet": "~/dangling",
	} {
		t.Run(name, func(t *testing.T) {
			git(t, top, "config", "--global", "core.hooksPath", value)
			git(t, top, "config", "--global", "include.path", "~/plain/more")
			if got := protectedIn(t, plain, false); !slices.Equal(got, []string{"later absent", "more absent file"}) {
				t.Errorf("%q", got)
			}
		})
	}
}

// ~name is the home of somebody, and no folder of that name.
func TestHooksInANamedHome(t *testing.T) {
	top := repository(t, "core.hooksPath=~root/hooks")
	if got := protectedIn(t, top, false); len(got) != 0 {
		t.Errorf("%q, but git looks in the home of root", got)
	}
}
