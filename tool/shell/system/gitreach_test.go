package system_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/shell/system"
)

// Where a repository leads out of its own folder.
func TestGitReaches(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir, home, other string)
		want   []string // below the folder that holds all of them
	}{
		"nothing":         {change: func(*testing.T, string, string, string) {}},
		"a .git file":     {change: moved("gitdir: ../other\n"), want: []string{"/other"}},
		"an absolute one": {change: moved("gitdir: OTHER\r\n"), want: []string{"/other"}},
		"commondir": {change: func(t *testing.T, dir, _, other string) {
			must(t, os.CopyFS(other, os.DirFS(dir+"/.git")))
			put(t, dir+"/.git/commondir", "../../other\n")
		}, want: []string{"/other"}},
		"a linked work tree":    {want: []string{"/repository/.git/worktrees/tree", "/repository/.git"}},
		"a work tree elsewhere": {change: setting("core.worktree", "../../home"), want: []string{"/home"}},
		"an absolute work tree": {change: setting("Core.WorkTree", "/"), want: []string{"="}},
		"its own work tree":     {change: setting("core.worktree", "..")},
		"alternates":            {change: alternates("../../../other/objects\n"), want: []string{"/other/objects"}},
		"several":               {change: alternates("# a comment\n\n/a\n../b\n"), want: []string{"=a", "/repository/.git/b"}},
		"further": {change: func(t *testing.T, dir, _, other string) {
			put(t, dir+"/.git/objects/info/alternates", other+"\n")
			put(t, other+"/info/alternates", "../third\n")
		}, want: []string{"/other", "/third"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, home := repository(t, "")
			base := strings.TrimSuffix(dir, "/repository")
			if tt.change != nil {
				tt.change(t, dir, home, base+"/other")
			} else {
				dir, home = committed(t)
				base = strings.TrimSuffix(dir, "/repository")
				git(t, home, dir, "worktree", "add", "-q", base+"/tree")
				dir = base + "/tree"
			}
			var want []string
			for _, w := range tt.want {
				if rest, ok := strings.CutPrefix(w, "="); ok {
					want = append(want, "/"+rest)
					continue
				}
				want = append(want, base+w)
			}
			if got, ok := system.New(dir, environment(home)).GitReaches(dir); !ok || !slices.Equal(got, want) {
				t.Errorf("%q, ok %v; want %q", got, ok, want)
			}
		})
	}
}

func moved(text string) func(*testing.T, string, string, string) {
	return func(t *testing.T, dir, _, other string) {
		must(t, os.Rename(dir+"/.git", other))
		put(t, dir+"/.git", strings.ReplaceAll(text, "OTHER", other))
	}
}

func setting(key, value string) func(*testing.T, string, string, string) {
	return func(t *testing.T, dir, home, _ string) { git(t, home, dir, "config", key, value) }
}

func alternates(text string) func(*testing.T, string, string, string) {
	return func(t *testing.T, dir, _, _ string) { put(t, dir+"/.git/objects/info/alternates", text) }
}

// What cannot be followed to its end is not said to lead nowhere.
func TestGitReachesUnknown(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir, home, other string){
		"quoted":  alternates("\"/x\"\n"),
		"a ring":  alternates("../objects\n"),
		"large":   alternates(strings.Repeat("/x\n", 1<<16)),
		"a pipe":  func(t *testing.T, dir, _, _ string) { must(t, os.MkdirAll(dir+"/.git/objects/info/alternates", 0o700)) },
		"pointer": func(t *testing.T, dir, _, _ string) { must(t, os.RemoveAll(dir+"/.git")); put(t, dir+"/.git", "x") },
		"config":  func(t *testing.T, dir, _, _ string) { put(t, dir+"/.git/config", "[") },
	} {
		dir, home := repository(t, "")
		change(t, dir, home, dir+"/../other")
		if got, ok := system.New(dir, environment(home)).GitReaches(dir); ok {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Git looks at the beginning of HEAD only, and takes large letters.
func TestUnusualHeads(t *testing.T) {
	for name, head := range map[string]string{
		"a branch": "ref: refs/heads/main\n", "without a space": "ref:refs/heads/main", "far away": "ref:\n \trefs/heads/main",
		"a commit": strings.Repeat("0123456789", 4) + "\n", "large letters": strings.Repeat("0123ABCDEF", 4), "both": strings.Repeat("01aBcDeF89", 4) + "x",
		"long": "ref: refs/heads/main\n" + strings.Repeat("\n", 70000), "a long commit": strings.Repeat("abcdef0123", 7000),
	} {
		dir, home := repository(t, "[core]\nfsmonitor = ./x\n")
		put(t, dir+"/.git/HEAD", head)
		must(t, os.MkdirAll(dir+"/sub", 0o700))
		if _, err := tryGit(home, dir, "config", "--local", "core.fsmonitor"); err != nil {
			t.Errorf("%s: git itself takes it for no repository: %v", name, err)
		}
		got, ok := system.New(dir, environment(home)).GitConfig(dir + "/sub")
		if !ok || len(got) == 0 || got[len(got)-1].Key != "core.fsmonitor" {
			t.Errorf("%s: settings %+v, ok %v", name, got, ok)
		}
		hooks, ok := system.New(dir, environment(home)).GitHooks(dir + "/sub")
		if !ok || hooks != dir+"/.git/hooks" {
			t.Errorf("%s: hooks %q, ok %v", name, hooks, ok)
		}
	}
}
