package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A command of git that prints what commits hold asks about a secret that git tracks, as one that names it does.
func TestGitPrintsATrackedSecret(t *testing.T) {
	b := benchOf(t, Config{Readonly: true}, false)
	commands := []string{
		"git show HEAD", "git show", "git show HEAD~1", "git -c color.ui=never show HEAD", "git log -p", "git log -1 -up",
		"git log --patch -- .", "git diff HEAD~1 HEAD", "git diff --cached", "git diff feature", "git stash show -p",
		"git format-patch --stdout HEAD~1", "git archive HEAD", "git show HEAD^{/a:b}", "git log -p -n 5", "git diff HEAD -- src ./conf",
	}
	quiet := []string{
		"git show --stat HEAD", "git log --oneline", "git log -5 --stat", "git show HEAD:README.md", "git diff --name-only HEAD~1",
		"git diff", "git diff HEAD -- src", "git diff README.md", "git log -p -- src/a.go", "git status",
	}
	// Nothing of that asks where no secret is tracked, whatever lies in the work tree.
	b.git("add", "README.md", "src", ".env.example")
	before := b.judge("git archive HEAD")
	b.all("allow", quiet...)
	b.all("allow", "git show HEAD", "git log -p", "git diff HEAD~1 HEAD")
	for _, index := range [][]string{{"--index-version", "2"}, {"--index-version", "4"}, {"--split-index"}} {
		t.Run(strings.Join(index, " "), func(t *testing.T) {
			b.t = t
			b.write(filepath.Join(b.dir, "5"), "no path, but a number\n")
			b.write(filepath.Join(b.dir, "conf/server.key"), "KEY\n")
			b.git("add", "-f", ".env", "conf/server.key")
			b.git(append([]string{"update-index"}, index...)...)
			settle(t, b)
			for _, c := range commands {
				if got := b.acts(c); b.judge(c) == "allow" || !strings.Contains(got, "read_file(proj/.env)") && !strings.Contains(got, "server.key") {
					t.Errorf("%s: %s, and was %s for an archive:\n%s", c, b.judge(c), before, got)
				}
			}
			if index[0] == "--split-index" {
				return // what became of the entries of the shared part is not looked at
			}
			b.all("allow", quiet...)
			if got := b.acts("git show HEAD:.env"); strings.Count(got, "read_file(proj/.env)") != 1 {
				t.Errorf("asked twice:\n%s", got)
			}
			// What changed is printed by git diff.
			b.write(filepath.Join(b.dir, ".env"), "KEY=another one\n")
			b.all("ask", "git diff")
			b.write(filepath.Join(b.dir, ".env"), "KEY=1\n")
			b.git("rm", "-q", "--cached", ".env", "conf/server.key")
			b.all("allow", "git show HEAD")
		})
	}
}

// settle makes the index younger than the files, as it is a moment after they were written.
func settle(t *testing.T, b *bench) {
	t.Helper()
	for _, name := range []string{".env", "conf/server.key"} {
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(b.dir, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	b.git("update-index", "-q", "--refresh")
}
