package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/assent-dev/assent/sandbox"
)

func TestTheDeepestRootDecides(t *testing.T) {
	p := sandbox.Profile{
		Roots: []sandbox.Root{
			{Path: "/p", Mode: sandbox.ModeReadWrite}, {Path: "/p/docs", Mode: sandbox.ModeReadOnly},
			{Path: "/p/docs/scratch", Mode: sandbox.ModeReadWrite}, {Path: "/q", Mode: sandbox.ModeReadOnly},
		},
		Protected: []sandbox.Entry{{Path: "/p/.assent"}, {Path: "/q/x"}},
		Masked:    []sandbox.Entry{{Path: "/p/secret"}},
	}
	for file, want := range map[string]sandbox.Mode{
		"/p": sandbox.ModeReadWrite, "/p/a": sandbox.ModeReadWrite, "/p/docs": sandbox.ModeReadOnly, "/p/docs/a": sandbox.ModeReadOnly,
		"/p/docs/scratch/a": sandbox.ModeReadWrite, "/p/docs2": sandbox.ModeReadWrite, "/p2": sandbox.ModeHidden, "/": sandbox.ModeHidden,
		"/p/.assent": sandbox.ModeReadOnly, "/p/.assent/x": sandbox.ModeReadOnly, "/p/.assent2": sandbox.ModeReadWrite,
		"/p/secret/a": sandbox.ModeHidden, "/q/x": sandbox.ModeReadOnly, "/etc/shadow": sandbox.ModeHidden,
	} {
		if got := p.At(file); got != want {
			t.Errorf("At(%s) = %v, want %v", file, got, want)
		}
	}
	if (sandbox.Profile{}).At("/etc/passwd") != sandbox.ModeHidden {
		t.Error("the zero profile shows a file")
	}
}

func TestCheck(t *testing.T) {
	for _, p := range []sandbox.Profile{
		{Roots: []sandbox.Root{{Path: "/", Mode: sandbox.ModeReadOnly}}},
		{Roots: []sandbox.Root{{Path: "/p"}}},
		{Roots: []sandbox.Root{{Path: "p", Mode: sandbox.ModeReadOnly}}},
		{Roots: []sandbox.Root{{Path: "/p/../q", Mode: sandbox.ModeReadOnly}}},
		{Roots: []sandbox.Root{{Path: "/p\x00", Mode: sandbox.ModeReadOnly}}},
		{Masked: []sandbox.Entry{{Path: "x"}}},
		{Protected: []sandbox.Entry{{Path: "/a/"}}},
		{Limits: sandbox.Limits{OpenFiles: -1}},
	} {
		if p.Check() == nil {
			t.Errorf("%+v passes", p)
		}
	}
}

// genProfile draws from few paths, so that profiles meet.
func genProfile(t *rapid.T, name string) sandbox.Profile {
	path := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 1, 3), func(parts []string) string { return "/" + strings.Join(parts, "/") })
	entries := func(what string) []sandbox.Entry {
		var out []sandbox.Entry
		for _, p := range rapid.SliceOfN(path, 0, 2).Draw(t, name+what) {
			out = append(out, sandbox.Entry{Path: p, Source: name})
		}
		return out
	}
	p := sandbox.Profile{Protected: entries("protected"), Masked: entries("masked"), Sockets: entries("sockets")}
	for i, at := range rapid.SliceOfNDistinct(path, 0, 4, rapid.ID).Draw(t, name+"roots") {
		mode := rapid.SampledFrom([]sandbox.Mode{sandbox.ModeReadOnly, sandbox.ModeReadWrite}).Draw(t, fmt.Sprint(name, "mode", i))
		p.Roots = append(p.Roots, sandbox.Root{Path: at, Mode: mode, Source: name})
	}
	p.GitWrite = rapid.Bool().Draw(t, name+"git")
	p.Network = sandbox.Network{On: rapid.Bool().Draw(t, name+"net"), Domains: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"x", "y"}), rapid.ID).Draw(t, name+"hosts")}
	p.Env.Pass = rapid.SliceOfDistinct(rapid.SampledFrom([]string{"PATH", "HOME", "LANG"}), rapid.ID).Draw(t, name+"env")
	p.Limits.FileSize = rapid.Int64Range(0, 2).Draw(t, name+"size")
	return p
}

// everyPath are all paths that genProfile can draw, and some below them.
func everyPath() []string {
	list := []string{"/"}
	for depth, last := 0, []string{""}; depth < 4; depth++ {
		var next []string
		for _, dir := range last {
			next = append(next, dir+"/a", dir+"/b")
		}
		list, last = append(list, next...), next
	}
	return list
}

func TestAChildReachesNoMoreThanBoth(t *testing.T) {
	paths := everyPath()
	rapid.Check(t, func(t *rapid.T) {
		a, b := genProfile(t, "a"), genProfile(t, "b")
		both := a.Intersect(b)
		for _, file := range paths {
			if got, want := both.At(file), min(a.At(file), b.At(file)); got != want {
				t.Fatalf("At(%s) = %v, want %v\n%+v", file, got, want, both)
			}
		}
		if both.GitWrite != (a.GitWrite && b.GitWrite) || both.Network.On != (a.Network.On && b.Network.On) {
			t.Fatalf("git or network widened: %+v", both)
		}
		for _, s := range both.Sockets {
			has := func(p sandbox.Profile) bool {
				return slices.ContainsFunc(p.Sockets, func(e sandbox.Entry) bool { return e.Path == s.Path })
			}
			if !has(a) || !has(b) {
				t.Fatalf("socket %s widened", s.Path)
			}
		}
		if both.Hash() != b.Intersect(a).Hash() {
			t.Fatal("the order makes a difference")
		}
		if a.Intersect(a).Hash() != a.Hash() {
			t.Fatal("a profile within itself is another")
		}
	})
}

func TestTheHashNamesWhatIsAllowed(t *testing.T) {
	p := sandbox.Profile{Roots: []sandbox.Root{
		{Path: "/b", Mode: sandbox.ModeReadOnly, Source: "x:1"}, {Path: "/a", Mode: sandbox.ModeReadWrite, Source: "x:2"},
	}, Protected: []sandbox.Entry{{Path: "/a/x", Source: "x:3"}}}
	before := cmp.Diff(p, p.Sorted())
	same := p
	same.Roots = []sandbox.Root{{Path: "/a", Mode: sandbox.ModeReadWrite, Source: "y:9"}, {Path: "/b", Mode: sandbox.ModeReadOnly}}
	same.Protected = []sandbox.Entry{{Path: "/a/x"}, {Path: "/a/x"}}
	if p.Hash() != same.Hash() {
		t.Error("sources or order change the hash")
	}
	if cmp.Diff(p, p.Sorted()) != before {
		t.Error("hashing changes the profile")
	}
	changes := map[string]func(*sandbox.Profile){
		"mode": func(p *sandbox.Profile) {
			p.Roots = []sandbox.Root{{Path: "/a", Mode: sandbox.ModeReadOnly}, p.Roots[0]}
		},
		"network": func(p *sandbox.Profile) { p.Network.On = true },
		"git":     func(p *sandbox.Profile) { p.GitWrite = true },
		"masked":  func(p *sandbox.Profile) { p.Masked = []sandbox.Entry{{Path: "/a/x"}} },
		"socket":  func(p *sandbox.Profile) { p.Sockets = []sandbox.Entry{{Path: "/a/x"}} },
		"env":     func(p *sandbox.Profile) { p.Env.Pass = []string{"X"} },
		"set":     func(p *sandbox.Profile) { p.Env.Set = map[string]string{"X": "1"} },
		"limit":   func(p *sandbox.Profile) { p.Limits.Tmp = 1 },
	}
	for name, change := range changes {
		other := p
		change(&other)
		if other.Hash() == p.Hash() {
			t.Errorf("%s does not change the hash", name)
		}
	}
}

func TestOnlyNamedVariablesPass(t *testing.T) {
	host := map[string]string{"PATH": "/bin", "API_TOKEN": "x", "LD_PRELOAD": "x", "HOME": "/h"}
	e := sandbox.Env{Pass: sandbox.DefaultPass(), Set: map[string]string{"GOCACHE": "/c"}}
	got := e.Values(func(name string) (string, bool) { v, ok := host[name]; return v, ok })
	if want := []string{"GOCACHE=/c", "HOME=/h", "PATH=/bin"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
