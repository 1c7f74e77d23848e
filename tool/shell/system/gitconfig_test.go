package system_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

// keys returns key=value of the settings that begin with "t.", which a test made.
func keys(settings []analysis.Setting) []string {
	var found []string
	for _, s := range settings {
		if strings.HasPrefix(s.Key, "t.") {
			found = append(found, strings.TrimPrefix(s.Key, "t.")+"="+s.Value)
		}
	}
	return found
}

// expect checks the settings of a folder, and that git has the same.
func expect(t *testing.T, dir, home string, want ...string) {
	t.Helper()
	got, ok := system.New(dir, environment(home)).GitConfig(dir)
	if !ok || !slices.Equal(keys(got), want) {
		t.Errorf("%s: settings %q, ok %v; want %q", dir, keys(got), ok, want)
	}
	agree(t, dir, home, dir)
}

func settingsOf(t *testing.T, dir, home string) []analysis.Setting {
	t.Helper()
	settings, ok := system.New(dir, environment(home)).GitConfig(dir)
	if !ok {
		t.Errorf("%s: no settings", dir)
	}
	return settings
}

func refused(t *testing.T, dir string, env []string) {
	t.Helper()
	if got, ok := system.New(dir, env).GitConfig(dir); ok || got != nil {
		t.Errorf("%s: settings %q, ok %v; want it refused", dir, keys(got), ok)
	}
}

func TestGitConfigFiles(t *testing.T) {
	dir, home := repository(t, "[t]\nfrom = repository\n")
	put(t, home+"/.gitconfig", "[t]\nfrom = home\n[include]\npath = .extra\n[t]\nafter = home\n")
	put(t, home+"/.extra", "[t]\nfrom = extra\n[include]\npath = ~/deep/er\npath = none\n")
	put(t, home+"/deep/er", "[t]\nfrom = deeper\n[include]\npath = beside\n")
	put(t, home+"/deep/beside", "[t]\nfrom = beside")
	put(t, home+"/.config/git/config", "[t]\nfrom = xdg\n")
	put(t, dir+"/sub/deep/file", "")
	want := []string{"from=xdg", "from=home", "from=extra", "from=deeper", "from=beside", "after=home"}
	expect(t, dir+"/sub/deep", home, append(want, "from=repository")...)
	expect(t, dir+"/.git/objects", home, append(want, "from=repository")...)
	expect(t, home, home, want...)
	for _, s := range settingsOf(t, dir, home) {
		if got := s.Value == "repository"; strings.HasPrefix(s.Key, "t.") && s.Repository != got {
			t.Errorf("%+v is said to be the repository's: %v", s, s.Repository)
		}
	}
	must(t, os.Symlink(dir+"/sub", home+"/link"))
	expect(t, home+"/link/deep", home, append(want, "from=repository")...)
}

func TestGitConfigElsewhere(t *testing.T) {
	dir, home := repository(t, "[t]\nfrom = repository\n")
	put(t, home+"/config/git/config", "[t]\nfrom = xdg\n")
	env := append(environment(home), "XDG_CONFIG_HOME="+home+"/config")
	if got, ok := system.New(dir, env).GitConfig(dir); !ok || !slices.Equal(keys(got), []string{"from=xdg", "from=repository"}) {
		t.Errorf("with XDG_CONFIG_HOME: %q, ok %v", keys(got), ok)
	}
	for _, variable := range []string{"GIT_DIR=/x", "GIT_CONFIG_GLOBAL=/x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_PARAMETERS='a.b=c'", "GIT_COMMON_DIR=/x"} {
		refused(t, dir, append(environment(home), variable))
	}
}

func TestConditionalIncludesAlwaysCount(t *testing.T) {
	dir, home := repository(t, "[includeIf \"gitdir:/nowhere/\"]\npath = ../extra\n[t]\nfrom = repository\n")
	put(t, dir+"/extra", "[t]\nfrom = extra\n")
	got, ok := system.New(dir, environment(home)).GitConfig(dir)
	if want := []string{"from=extra", "from=repository"}; !ok || !slices.Equal(keys(got), want) {
		t.Errorf("settings %q, ok %v; want %q", keys(got), ok, want)
	}
}

func TestIncludesThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"itself":      "[include]\npath = config\n",
		"prefix":      "[include]\npath = %(prefix)/x\n",
		"no such one": "[include]\npath = ~nobody-of-this-name/x\n",
		"a folder":    "[include]\npath = objects\n",
		"a device":    "[include]\npath = /dev/zero\n",
		"malformed":   "[include]\npath = bad\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir, home := repository(t, text)
			put(t, dir+"/.git/bad", "[")
			refused(t, dir, environment(home))
		})
	}
}

func TestWorkTreesAndSubmodules(t *testing.T) {
	dir, home := repository(t, "")
	git(t, home, dir, "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x")
	git(t, home, dir, "worktree", "add", "-q", "../tree")
	put(t, dir+"/.git/config", "[core]\nrepositoryformatversion=1\n[extensions]\nworktreeConfig\n[t]\nfrom = shared\n")
	put(t, dir+"/.git/config.worktree", "[t]\nfrom = main\n")
	put(t, dir+"/.git/worktrees/tree/config.worktree", "[t]\nfrom = tree\n")
	expect(t, dir, home, "from=shared", "from=main")
	expect(t, dir+"/../tree", home, "from=shared", "from=tree")

	must(t, os.Mkdir(dir+"/.git/modules", 0o700))
	git(t, home, dir, "init", "-q", "--separate-git-dir", dir+"/.git/modules/m", dir+"/m")
	put(t, dir+"/.git/modules/m/config", "[t]\nfrom = module\n")
	expect(t, dir+"/m", home, "from=module")
}

func TestBareAndBrokenRepositories(t *testing.T) {
	dir, home := repository(t, "[t]\nfrom = outer\n")
	git(t, home, dir, "init", "-q", "--bare", dir+"/bare")
	put(t, dir+"/bare/config", "[core]\nbare\n[t]\nfrom = bare\n")
	expect(t, dir+"/bare", home, "from=bare")
	expect(t, dir+"/bare/refs", home, "from=bare")

	// Git passes by a folder that only has the name; what it says counts all the same.
	put(t, dir+"/broken/.git/config", "[t]\nfrom = broken\n")
	got, ok := system.New(dir, environment(home)).GitConfig(dir + "/broken")
	if want := []string{"from=outer", "from=broken"}; !ok || !slices.Equal(keys(got), want) {
		t.Errorf("settings %q, ok %v; want %q", keys(got), ok, want)
	}
	put(t, dir+"/pointer/.git", "not a pointer")
	refused(t, dir+"/pointer", environment(home))
	refused(t, dir+"/none", environment(home))
}

func TestGitConfigSeesEveryChange(t *testing.T) {
	dir, home := repository(t, "")
	for i := range 50 {
		value := string(rune('a' + i%26)) // the size stays the same
		put(t, dir+"/.git/config", "[t]\nx = "+value+"\n")
		if got, _ := system.New(dir, environment(home)).GitConfig(dir); !slices.Equal(keys(got), []string{"x=" + value}) {
			t.Fatalf("settings %q, want x=%s", keys(got), value)
		}
	}
	// Neither a file that is put in the place of another nor an old time of change hides one.
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(dir+"/.git/config", old, old))
	put(t, dir+"/.git/new", "[t]\nx = #\n")
	must(t, os.Chtimes(dir+"/.git/new", old, old))
	must(t, os.Rename(dir+"/.git/new", dir+"/.git/config"))
	if got, _ := system.New(dir, environment(home)).GitConfig(dir); !slices.Equal(keys(got), []string{"x="}) {
		t.Errorf("settings %q after a rename", keys(got))
	}
}
