package snapshot

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the walk calls ignored is what the real git ignores, for many patterns.
func TestIgnoredAsGitDoes(t *testing.T) {
	l := newRepo(t)
	l.sh("rm -r src doc .gitignore && git rm -q -r --cached . ")
	names := []string{"a", "b", "ab", "a.o", "b.c", "x y", "#h", "!n", "d", "a b ", "[x]", "A"}
	files := slices.Clone(names)
	for _, dir := range []string{"d/", "e/", "e/d/", "e/f/d/"} {
		for _, n := range names {
			if n != "d" {
				files = append(files, dir+n)
			}
		}
	}
	files = slices.DeleteFunc(files, func(n string) bool { return n == "d" })
	for _, n := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(l.dir, n)), 0o755))
		must(t, os.WriteFile(filepath.Join(l.dir, n), nil, 0o644))
	}
	l.sh("git add -f e/f/d/a.o e/b") // tracked files are never ignored
	patterns := []string{
		"a", "/a", "a/", "*.o", "/*.o", "d/", "/d/", "d/*", "!d/a", "e/**", "**/d", "**/d/a", "e/**/a", "/e/*/d", "!*.c", "[ab]", "[!a]", "[^ab]*", "[a-c].o", "?",
		"\\#h", "#h", "\\!n", "!n", "a b\\ ", "a b ", "x y", "*", "!*", "!*/", "/*", "!/e", "e/f", "!e/f/", "**", "a**", "**a", "e/d/**", "[[:upper:]]", "[]x]", "\\[x\\]", "[x", "", "  ", "*/", "**/*.c", "!e/d/b.c", "f/d", "d/a\r",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		for _, at := range []string{".gitignore", "e/.gitignore", "e/d/.gitignore", ".git/info/exclude"} {
			var lines []string
			for range r.IntN(4) {
				lines = append(lines, patterns[r.IntN(len(patterns))])
			}
			must(t, os.WriteFile(filepath.Join(l.dir, at), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
		}
		cmd := exec.Command("git", "ls-files", "-z", "-c", "-o", "--exclude-standard")
		cmd.Dir = l.dir
		out, err := cmd.Output()
		must(t, err)
		want := slices.Compact(slices.Sorted(slices.Values(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))))
		var b before
		must(t, l.store.look(t.Context(), &b, l.roots.scopes(anything), nil))
		var got []string
		for e := range b.trees[0].all() {
			if e.kind == file {
				got = append(got, e.path)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			text, _ := exec.Command("sh", "-c", "cd "+l.dir+" && head -50 .gitignore e/.gitignore e/d/.gitignore .git/info/exclude").Output()
			t.Fatalf("%s\nhere %q\ngit  %q", text, got, want)
		}
	}
}

// Many stars take no time.
func TestManyStars(t *testing.T) {
	if wild(strings.Repeat("*a", 40)+"b", strings.Repeat("a", 200)) {
		t.Error("it matched")
	}
}
