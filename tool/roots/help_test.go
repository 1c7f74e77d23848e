package roots_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// tree makes files below a new folder: "a/b.txt" is a file, "a/" a folder,
// "a -> b" a link.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, name := range names {
		if link, target, ok := strings.Cut(name, " -> "); ok {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755))
			must(t, os.Symlink(strings.ReplaceAll(target, "DIR", dir), filepath.Join(dir, link)))
			continue
		}
		at := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(at, 0o755))
			continue
		}
		must(t, os.WriteFile(at, []byte("content of "+name+"\n"), 0o644))
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newSet(t *testing.T, list ...roots.Root) *roots.Set {
	t.Helper()
	return newSetWith(t, roots.Options{}, list...)
}

func newSetWith(t *testing.T, opts roots.Options, list ...roots.Root) *roots.Set {
	t.Helper()
	set, err := roots.New(opts, list...)
	must(t, err)
	t.Cleanup(func() { set.Close() })
	return set
}

// verdict resolves a name and judges an access to it. What is refused is
// blocked.
func verdict(t *testing.T, set *roots.Set, name string, a roots.Access) policy.Act {
	t.Helper()
	p, err := set.Resolve(name)
	if r := (*roots.Refusal)(nil); errors.As(err, &r) {
		return policy.Act{Verdict: policy.VerdictBlock, Why: r.Why}
	}
	must(t, err)
	return p.Act(a)
}

func wantVerdict(t *testing.T, set *roots.Set, name string, a roots.Access, want policy.Verdict) policy.Act {
	t.Helper()
	act := verdict(t, set, name, a)
	if act.Verdict != want {
		t.Errorf("%s %s: %v (%s), want %v", a, name, act.Verdict, act.Why, want)
	}
	return act
}

func rw(name, host string) roots.Root {
	return roots.Root{Name: name, Host: host, Mode: roots.ModeReadWrite}
}

// free is a root in which everything is free.
func free(name, host string) roots.Root {
	r := rw(name, host)
	r.Approval = map[roots.Access]policy.Verdict{roots.AccessWrite: policy.VerdictFree, roots.AccessDelete: policy.VerdictFree}
	return r
}
