package shell

import (
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// Where files may be changed without asking, a program that does nothing else asks no more
// than they do.
func TestSimplePrograms(t *testing.T) {
	b := newBench(t, Config{Readonly: true})
	b.all("ask", "mkdir x", "tee out < README.md", "touch x")
	b = newBench(t, Config{Readonly: true})
	free := map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictFree, roots.AccessWrite: policy.VerdictFree, roots.AccessDelete: policy.VerdictFree}
	set, err := roots.New(roots.Options{Home: b.home}, roots.Root{Name: "proj", Host: b.dir, Mode: roots.ModeReadWrite, Approval: free})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	b.tool.roots = set
	if b.tool.cwd, err = home("proj", set); err != nil {
		t.Fatal(err)
	}
	b.all("allow", "mkdir -p a/b && ls", "ls | tee out", "touch src/new.go")
	b.all("ask", "mkdir /etc/x", "tee .env < README.md", "tee out /etc/x < README.md", "mkdir $X", "FOO=1 mkdir x", "rm README.md", "cp README.md x",
		"tee out < /etc/passwd")
	b.all("deny", "tee .git/config < README.md", "mkdir .git/x")
}
