package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/sandbox"
)

// tree makes files below a new folder: "a/b=text" is a file, "a/" a folder, "a -> b" a link.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, content, _ := strings.Cut(name, "=")
		link, target, isLink := strings.Cut(name, " -> ")
		at := filepath.Join(dir, link)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(strings.ReplaceAll(target, "DIR", dir), at)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func rw(path string) sandbox.Root {
	return sandbox.Root{Path: path, Mode: sandbox.ModeReadWrite, Guarded: true, Source: "policy.yaml:3"}
}

// places has a line for each place, below the folder.
func places(dir string, list []Place) []string {
	out := []string{}
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s %s", strings.TrimPrefix(p.Path, dir+"/"), p.Kind))
	}
	slices.Sort(out)
	return out
}

func sceneOf(t *testing.T, p sandbox.Profile) Layout {
	t.Helper()
	s, err := Survey(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRepositoriesAreFound(t *testing.T) {
	dir := tree(t, "p/.git/HEAD", "p/a/b/.git/HEAD", "p/work/.git=gitdir: ../main/.git/worktrees/w\n", "p/main/.git/worktrees/w/commondir=../..\n",
		"p/node_modules/x/.git/HEAD", "p/linked/.git -> ../real.git", "p/real.git/HEAD", "p/out/.git -> /etc", "p/ro/.git/HEAD", "p/sub/.assent/x")
	s := sceneOf(t, sandbox.Profile{Roots: []sandbox.Root{rw(dir + "/p"), {Path: dir + "/p/ro", Mode: sandbox.ModeReadOnly, Guarded: true}}})
	want := []string{"p/.assent absent", "p/.git folder", "p/a/b/.git folder", "p/main/.git folder", "p/main/.git/worktrees/w folder", "p/real.git folder", "p/sub/.assent folder", "p/work/.git file"}
	if diff := cmp.Diff(want, places(dir, s.Protected)); diff != "" {
		t.Error(diff)
	}
}

func TestGitWriteLeavesWhatRunsProgramsProtected(t *testing.T) {
	dir := tree(t, "p/.git/HEAD", "p/.git/hooks/", "p/.git/config", "p/.git/info/", "p/.assent/", "p/new/.git/")
	s := sceneOf(t, sandbox.Profile{Roots: []sandbox.Root{rw(dir + "/p")}, GitWrite: true})
	want := []string{"p/.assent folder", "p/.git/commondir absent", "p/.git/config file", "p/.git/config.worktree absent", "p/.git/hooks folder",
		"p/.git/info folder", "p/.git/modules absent", "p/.git/worktrees absent", "p/new/.git folder"}
	if diff := cmp.Diff(want, places(dir, s.Protected)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"p/.git folder"}, places(dir, s.Open)); diff != "" {
		t.Error(diff)
	}
}

func TestOwnFilesAreProtectedBeforeTheyExist(t *testing.T) {
	dir := tree(t, "home/.config/", "home/state", "elsewhere/")
	own := []sandbox.Entry{{Path: dir + "/home/.config/assent"}, {Path: dir + "/home/.local/state/assent"}, {Path: dir + "/home/state/assent"}, {Path: dir + "/elsewhere/x"}}
	s := sceneOf(t, sandbox.Profile{Roots: []sandbox.Root{rw(dir + "/home")}, Protected: own})
	want := []string{"home/.assent absent", "home/.config/assent absent", "home/.git absent", "home/.local absent", "home/state file"}
	if diff := cmp.Diff(want, places(dir, s.Protected)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeHeldIsRefused(t *testing.T) {
	dir := tree(t, "p/", "link -> p", "q/.git -> ../p", "r/.assent -> ../p", "s/.git/HEAD", "s/.git/hooks -> ../../p", "file")
	for name, p := range map[string]sandbox.Profile{
		"a root that is not there":        {Roots: []sandbox.Root{rw(dir + "/no")}},
		"a root that is a link":           {Roots: []sandbox.Root{rw(dir + "/link")}},
		"a repository that is a link":     {Roots: []sandbox.Root{rw(dir + "/q")}},
		"a policy folder that is a link":  {Roots: []sandbox.Root{rw(dir + "/r")}},
		"hooks that are a link":           {Roots: []sandbox.Root{rw(dir + "/s")}, GitWrite: true},
		"a socket that is none":           {Sockets: []sandbox.Entry{{Path: dir + "/file"}}},
		"a socket that is not there":      {Sockets: []sandbox.Entry{{Path: dir + "/no"}}},
		"a denied path that is a link":    {Roots: []sandbox.Root{rw(dir + "/p")}, Masked: []sandbox.Entry{{Path: dir + "/link"}}},
		"a profile that is no profile":    {Roots: []sandbox.Root{rw("/")}},
		"a protected path through a link": {Roots: []sandbox.Root{rw(dir)}, Protected: []sandbox.Entry{{Path: dir + "/link/x"}}},
	} {
		if _, err := Survey(p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestARootInsideARepositoryIsReadOnly(t *testing.T) {
	dir := tree(t, "p/.git/objects/", "p/.assent/x/")
	s := sceneOf(t, sandbox.Profile{Roots: []sandbox.Root{rw(dir + "/p/.git/objects"), rw(dir + "/p/.assent/x")}})
	for _, r := range s.Roots {
		if r.Mode != sandbox.ModeReadOnly {
			t.Errorf("%s is %v", r.Path, r.Mode)
		}
	}
}

func TestDeepFoldersAreSaidNotToBeSearched(t *testing.T) {
	dir := tree(t, "p/"+strings.Repeat("d/", searchDepth)+"e/.git/HEAD")
	s := sceneOf(t, sandbox.Profile{Roots: []sandbox.Root{rw(dir + "/p")}})
	if len(s.Unsearched) != 1 || !strings.HasPrefix(s.Unsearched[0], dir) {
		t.Errorf("%q", s.Unsearched)
	}
}

// What every process sees has nobody's secrets in it.
func TestSystem(t *testing.T) {
	for _, l := range system() {
		for _, secret := range []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssl/private/key", "/etc/ssh/ssh_host_rsa_key", "/home/u", "/root", "/etc/machine-id"} {
			if l.Source != "" && sandbox.Below(l.Source, secret) {
				t.Errorf("%s shows %s", l.Source, secret)
			}
		}
		if l.Small && !strings.HasPrefix(l.Path, "/etc/") {
			t.Errorf("%s is copied", l.Path)
		}
	}
}
