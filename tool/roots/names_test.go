package roots_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// threeNames is a folder with the names ".", p and, through a link, q.
func threeNames(t *testing.T, files ...string) (*roots.Set, string) {
	t.Helper()
	dir := tree(t, append(files, "proj/a.go", "proj/sub/b.go", "link -> proj")...)
	return newSet(t, rw(".", dir+"/proj"), rw("p", dir+"/proj/"), rw("q", dir+"/link")), dir
}

// places are all ways to name a file of the folder.
func places(t *testing.T, set *roots.Set, dir, rel string) map[string]roots.Place {
	t.Helper()
	out := map[string]roots.Place{}
	for _, name := range []string{rel, "p/" + rel, "q/" + rel, "./" + rel, "p//" + rel + "/"} {
		p, err := set.Resolve(name)
		must(t, err)
		out[name] = p
	}
	for _, path := range []string{dir + "/proj/" + rel, dir + "/link/" + rel, dir + "/link/sub/../" + rel} {
		p, inside, err := set.ResolveHost(path)
		must(t, err)
		if !inside {
			t.Errorf("%s is outside", path)
		}
		out[path] = p
	}
	return out
}

// covered reports whether one rule lets an act run that asks.
func covered(t *testing.T, rule string, act policy.Act) bool {
	t.Helper()
	call := policy.Call{Tool: act.Name}
	j := policy.Policy{Fixed: approvaltest.Rules(t, rule), Mode: policy.ModeAsk}.Judge(policy.Question{Call: &call, Acts: []policy.Act{act}})
	return j.State == policy.StateAutoApproved
}

func TestRulesByAnyNameOfAFolder(t *testing.T) {
	set, dir := threeNames(t)
	for written, p := range places(t, set, dir, "sub/b.go") {
		for _, target := range []string{"sub/b.go", "p/sub/b.go", "q/sub/b.go", "p/**", "q/sub/", "**/b.go", "sub/*", dir + "/proj/**", dir + "/link/**"} {
			if !denied(t, "deny write_file("+target+")", p.Act(roots.AccessWrite)) {
				t.Errorf("a deny of %s does not meet %s: %+v", target, written, p.Target())
			}
		}
		for _, target := range []string{"sub/b.go", "p/sub/b.go", "q/**", "**/b.go", dir + "/link/**"} {
			if !covered(t, "allow write_file("+target+")", p.Act(roots.AccessWrite)) {
				t.Errorf("an allow of %s does not cover %s: %+v", target, written, p.Target())
			}
		}
		for _, target := range []string{"b.go", "p/b.go", "q/a.go", "r/sub/b.go"} {
			if act := p.Act(roots.AccessWrite); covered(t, "allow write_file("+target+")", act) || denied(t, "deny write_file("+target+")", act) {
				t.Errorf("a rule for %s is about %s", target, written)
			}
		}
	}
}

func TestAnExceptionByAnyNameOfAFolder(t *testing.T) {
	set, dir := threeNames(t)
	judge := func(act policy.Act) policy.State {
		rules := []policy.Rule{}
		for _, text := range []string{"deny read_file(**/*.go)", "except read_file(p/a.go)"} {
			r, err := policy.ParseRule(text)
			must(t, err)
			r.ID, r.Source = text, "policy.yaml:1"
			rules = append(rules, r)
		}
		fixed, err := policy.CompileRules(rules)
		must(t, err)
		return policy.Policy{Fixed: fixed}.Judge(policy.Question{Call: &policy.Call{Tool: act.Name}, Acts: []policy.Act{act}}).State
	}
	for written, p := range places(t, set, dir, "a.go") {
		if got := judge(p.Act(roots.AccessRead)); got != policy.StateFree {
			t.Errorf("%s is excepted, and %s", written, got)
		}
	}
	for written, p := range places(t, set, dir, "sub/b.go") {
		if got := judge(p.Act(roots.AccessRead)); got != policy.StateAutoDenied {
			t.Errorf("%s is not excepted, and %s", written, got)
		}
	}
}

// The name that was written is shown; a host path goes by the name that is not ".".
func TestWhichNameIsShown(t *testing.T) {
	set, dir := threeNames(t)
	for written, want := range map[string]string{"a.go": "a.go", "./a.go": "a.go", "p//a.go/": "p/a.go", "q/a.go": "q/a.go", dir + "/proj/a.go": "p/a.go", dir + "/link/a.go": "p/a.go"} {
		p, err := set.Resolve(written)
		if strings.HasPrefix(written, "/") {
			p, _, err = set.ResolveHost(written)
		}
		must(t, err)
		act := p.Act(roots.AccessRead)
		if p.Name() != want || p.Resolved() != want || act.String() != "read_file("+want+")" || p.Common() != "p/a.go" {
			t.Errorf("%s is %s, %s, %s, in common %s; want %s", written, p.Name(), p.Resolved(), act, p.Common(), want)
		}
		if names := p.Names(); names[0] != want || len(names) != 3 {
			t.Errorf("%s has the names %q", written, names)
		}
	}
	if got := set.Folders(); !slices.Equal(got, []string{"p"}) {
		t.Errorf("folders %q", got)
	}
	if got := set.Names(); !slices.Equal(got, []string{".", "p", "q"}) {
		t.Errorf("names %q", got)
	}
}

func TestOneFileIsOneKey(t *testing.T) {
	set, dir := threeNames(t)
	for written, p := range places(t, set, dir, "a.go") {
		if p.Key() != dir+"/proj/a.go" {
			t.Errorf("%s: %s", written, p.Key())
		}
	}
}

// A yes for the session is for the file, whichever of its names is used.
func TestAGrantHoldsUnderAllNames(t *testing.T) {
	dir := tree(t, "proj/a.go", "proj/c.go")
	set := newSet(t, rw(".", dir+"/proj"), rw("p", dir+"/proj"))
	at := func(name string) policy.Act {
		p, err := set.Resolve(name)
		if strings.HasPrefix(name, "/") {
			p, _, err = set.ResolveHost(name)
		}
		must(t, err)
		return p.Act(roots.AccessWrite)
	}
	judge := func(g policy.Grant, act policy.Act) policy.State {
		g.Session = "s"
		call := policy.Call{Tool: act.Name, Session: "s"}
		return policy.Policy{Grants: policy.NewGrantSet([]policy.Grant{g}), Mode: policy.ModeAsk}.
			Judge(policy.Question{Call: &call, Acts: []policy.Act{act}}).State
	}
	names := []string{"a.go", "p/a.go", dir + "/proj/a.go"}
	for _, given := range names {
		for _, used := range names {
			for _, reach := range []policy.Reach{policy.ReachExact, policy.ReachPrefix} {
				if got := judge(policy.Grant{Effect: policy.EffectAllow, Act: at(given), Reach: reach}, at(used)); got != policy.StateSessionApproved {
					t.Errorf("a %s grant for %s: %s is %s", reach, given, used, got)
				}
			}
			if got := judge(policy.Grant{Effect: policy.EffectDeny, Act: at(given)}, at(used)); got != policy.StateAutoDenied {
				t.Errorf("a denial of %s: %s is %s", given, used, got)
			}
		}
		if got := judge(policy.Grant{Effect: policy.EffectAllow, Act: at(given)}, at("p/c.go")); got != policy.StatePending {
			t.Errorf("a grant for %s: p/c.go is %s", given, got)
		}
	}
}

func TestTheStrictestOfSeveralNamesHolds(t *testing.T) {
	dir := tree(t, "proj/a.md", "proj/b.txt", "proj/in/c.md", "todo.md")
	const free, ask, block = policy.VerdictFree, policy.VerdictAsk, policy.VerdictBlock
	words := func(read, write, remove policy.Verdict) map[roots.Access]policy.Verdict {
		return map[roots.Access]policy.Verdict{roots.AccessRead: read, roots.AccessWrite: write, roots.AccessDelete: remove}
	}
	root := func(name, host string, mode roots.Mode, approval map[roots.Access]policy.Verdict) roots.Root {
		return roots.Root{Name: name, Host: dir + host, Mode: mode, Approval: approval, Source: "policy.yaml:" + name}
	}
	for name, c := range map[string]struct {
		roots []roots.Root
		want  map[string]map[roots.Access]policy.Verdict // by the name of a file
		why   string
	}{
		"mode": {[]roots.Root{root("a", "/proj", roots.ModeReadWrite, words(free, free, free)), root("b", "/proj", roots.ModeReadOnly, nil)},
			map[string]map[roots.Access]policy.Verdict{"a/a.md": words(free, block, block), "b/a.md": words(free, block, block)}, "mode ro at policy.yaml:b"},
		"a mode that is not said is ro": {[]roots.Root{root("a", "/proj", roots.ModeReadWrite, words(free, free, free)), root("b", "/proj", "", nil)},
			map[string]map[roots.Access]policy.Verdict{"a/a.md": words(free, block, block)}, "policy.yaml:b"},
		"approval": {[]roots.Root{root("a", "/proj", roots.ModeReadWrite, words(ask, free, block)), root("b", "/proj", roots.ModeReadWrite, words(free, block, free))},
			map[string]map[roots.Access]policy.Verdict{"a/a.md": words(ask, block, block), "b/a.md": words(ask, block, block)}, "policy.yaml:b"},
		"what is left out has its default": {[]roots.Root{root("a", "/proj", roots.ModeReadWrite, words(free, free, free)), root("b", "/proj", roots.ModeReadWrite, nil)},
			map[string]map[roots.Access]policy.Verdict{"a/a.md": words(free, ask, ask)}, "by default"},
		"the third": {[]roots.Root{root("a", "/proj", roots.ModeReadWrite, words(free, free, free)), root(".", "/proj", roots.ModeReadWrite, words(free, free, free)), root("c", "/proj", roots.ModeReadWrite, words(free, ask, free))},
			map[string]map[roots.Access]policy.Verdict{"a/a.md": words(free, ask, free), "a.md": words(free, ask, free), "c/a.md": words(free, ask, free)}, "policy.yaml:c asks before writes to c"},
		"inside another": {[]roots.Root{root("all", "/proj", roots.ModeReadWrite, words(free, free, free)), root("in", "/proj/in", roots.ModeReadWrite, words(free, free, free)), root("too", "/proj/in", roots.ModeReadOnly, nil)},
			map[string]map[roots.Access]policy.Verdict{"all/a.md": words(free, free, free), "all/in/c.md": words(free, block, block), "in/c.md": words(free, block, block), "too/c.md": words(free, block, block)}, ""},
		"around another": {[]roots.Root{root("all", "/proj", roots.ModeReadOnly, nil), root(".", "/proj", roots.ModeReadWrite, words(free, free, free)), root("in", "/proj/in", roots.ModeReadWrite, words(free, free, free))},
			map[string]map[roots.Access]policy.Verdict{"a.md": words(free, block, block), "in/c.md": words(free, free, free), "all/in/c.md": words(free, free, free)}, ""},
		"a single file": {[]roots.Root{root("a", "/todo.md", roots.ModeReadWrite, words(free, free, ask)), root("b", "/todo.md", roots.ModeReadWrite, words(ask, free, ask))},
			map[string]map[roots.Access]policy.Verdict{"a": words(ask, free, ask), "b": words(ask, free, ask)}, ""},
	} {
		set := newSet(t, c.roots...)
		for file, want := range c.want {
			for access, verdict := range want {
				act := wantVerdict(t, set, file, access, verdict)
				if access == roots.AccessWrite && !strings.Contains(act.Why, c.why) {
					t.Errorf("%s: %s: %s, want %q", name, file, act.Why, c.why)
				}
			}
		}
	}
}

func TestSuffixesAndSizesOfSeveralNames(t *testing.T) {
	dir := tree(t, "proj/a.md", "proj/b.txt", "proj/c.go")
	a, b := rw("a", dir+"/proj"), rw("b", dir+"/proj")
	a.Suffixes, b.Suffixes = []string{".md", ".txt"}, []string{".txt", ".go"}
	a.MaxFileBytes, b.MaxFileBytes = 100, 10
	set := newSet(t, a, b)
	for name, want := range map[string]policy.Verdict{"a/a.md": policy.VerdictBlock, "b/a.md": policy.VerdictBlock, "a/b.txt": policy.VerdictFree, "b/b.txt": policy.VerdictFree, "b/c.go": policy.VerdictBlock} {
		wantVerdict(t, set, name, roots.AccessRead, want)
	}
	for _, name := range []string{"a/b.txt", "b/b.txt"} {
		if p, err := set.Resolve(name); err != nil || p.Fits(10) != nil || p.Fits(11) == nil {
			t.Errorf("%s: the smaller size does not hold: %v", name, err)
		}
	}
}

func TestOncePerSessionUnderSeveralNames(t *testing.T) {
	dir := tree(t, "proj/a")
	once, ask, free := rw("once", dir+"/proj"), rw("ask", dir+"/proj"), free("free", dir+"/proj")
	once.Once = []roots.Access{roots.AccessWrite}
	for _, c := range []struct {
		roots []roots.Root
		want  bool
	}{{[]roots.Root{once, ask}, false}, {[]roots.Root{ask, once}, false}, {[]roots.Root{once, free}, true}, {[]roots.Root{free, once}, true}} {
		set := newSet(t, c.roots...)
		for _, r := range c.roots {
			p, err := set.Resolve(r.Name + "/a")
			must(t, err)
			if p.OncePerSession(roots.AccessWrite) != c.want || p.Act(roots.AccessWrite).Verdict != policy.VerdictAsk {
				t.Errorf("%s of %s and %s: once %v", r.Name, c.roots[0].Name, c.roots[1].Name, !c.want)
			}
		}
	}
}

// The modes that tools tell the model are those that hold.
func TestModesOfSeveralNames(t *testing.T) {
	dir := tree(t, "proj/", "other/")
	set := newSet(t, rw("a", dir+"/proj"), roots.Root{Name: "b", Host: dir + "/proj"}, rw("c", dir+"/other"))
	got := map[string]roots.Mode{}
	for _, r := range set.Roots() {
		got[r.Name] = r.Mode
	}
	if got["a"] != roots.ModeReadOnly || got["b"] != roots.ModeReadOnly || got["c"] != roots.ModeReadWrite {
		t.Errorf("modes %v", got)
	}
	if folders := set.Folders(); !slices.Equal(folders, []string{"a", "c"}) {
		t.Errorf("folders %q", folders)
	}
}

// The root named "." has no name for a file where another root has taken it. A rule about that
// name allows what the other root holds, and denies both.
func TestANameThatAnotherRootHides(t *testing.T) {
	dir := tree(t, "proj/gen/x", "proj/src/gen/x", "proj/docs/y", "other/y", "other/l -> DIR/proj/docs/y", "proj/here/z")
	set := newSet(t, rw(".", dir+"/proj"), rw("src", dir+"/proj"), rw("docs", dir+"/other"), rw("here", dir+"/proj/here"))
	host := func(path string) (roots.Place, policy.Act) {
		p, _, err := set.ResolveHost(dir + path)
		must(t, err)
		return p, p.Act(roots.AccessWrite)
	}
	for _, c := range []struct{ path, name, allow string }{
		{"/proj/gen/x", "src/gen/x", "src/gen/**"},
		{"/proj/gen/x", "src/gen/x", "gen/**"},
		{"/proj/src/gen/x", "src/src/gen/x", "src/src/gen/**"},
		{"/proj/docs/y", "src/docs/y", "src/docs/**"},
		{"/other/y", "docs/y", "docs/**"},
		{"/proj/here/z", "here/z", "here/**"},
	} {
		p, act := host(c.path)
		if p.Name() != c.name || p.Resolved() != c.name || !covered(t, "allow write_file("+c.allow+")", act) {
			t.Errorf("%s is %s, resolved %s: %+v", c.path, p.Name(), p.Resolved(), act.Target)
		}
		if again, err := set.Resolve(p.Name()); err != nil || again.Key() != dir+c.path {
			t.Errorf("%s is called %s, and that is %s, %v", c.path, p.Name(), again.Key(), err)
		}
	}
	for path, allow := range map[string]string{"/proj/src/gen/x": "src/gen/**", "/proj/docs/y": "docs/**", "/other/l": "docs/**"} {
		if _, act := host(path); covered(t, "allow write_file("+allow+")", act) || !denied(t, "deny write_file("+allow+")", act) {
			t.Errorf("%s under a rule for %s: %+v", path, allow, act.Target)
		}
	}
	alone := newSet(t, rw(".", dir+"/proj"), rw("docs", dir+"/other"))
	p, _, err := alone.ResolveHost(dir + "/proj/docs/y")
	must(t, err)
	if p.Name() != dir+"/proj/docs/y" || covered(t, "allow write_file(docs/**)", p.Act(roots.AccessWrite)) || !denied(t, "deny write_file(docs/**)", p.Act(roots.AccessWrite)) {
		t.Errorf("%s: %+v", p.Name(), p.Target())
	}
	if p.Act(roots.AccessRead).Verdict != policy.VerdictFree {
		t.Error("it lies in a root all the same")
	}
}

func TestLinksToAnotherSpellingOfTheFolder(t *testing.T) {
	set, dir := threeNames(t, "proj/to.go -> DIR/link/a.go", "proj/out -> DIR")
	for _, name := range []string{"to.go", "p/to.go", "q/to.go"} {
		p, err := set.Resolve(name)
		must(t, err)
		if p.Key() != dir+"/proj/a.go" || p.Resolved() != strings.Replace(name, "to.go", "a.go", 1) {
			t.Errorf("%s leads to %s", name, p.Resolved())
		}
		if !denied(t, "deny read_file(p/a.go)", p.Act(roots.AccessRead)) || covered(t, "allow write_file(p/a.go)", p.Act(roots.AccessWrite)) {
			t.Errorf("%s: %+v", name, p.Target())
		}
	}
	wantVerdict(t, set, "q/out/other", roots.AccessRead, policy.VerdictBlock)
}

func TestOneNameThatLeadsElsewhere(t *testing.T) {
	set, dir := threeNames(t, "else/a.go")
	must(t, os.Remove(dir+"/link"))
	must(t, os.Symlink("else", dir+"/link"))
	wantVerdict(t, set, "q/a.go", roots.AccessRead, policy.VerdictBlock)
	wantVerdict(t, set, "p/a.go", roots.AccessRead, policy.VerdictFree)
	if p, inside, err := set.ResolveHost(dir + "/link/a.go"); err != nil || inside || p.Act(roots.AccessWrite).Verdict == policy.VerdictFree {
		t.Errorf("inside %v, %v", inside, err)
	}
}

func TestRootsThatAreTheSameFile(t *testing.T) {
	dir := tree(t, "a/", "f.txt", "l.txt -> f.txt")
	must(t, os.Link(dir+"/f.txt", dir+"/g.txt"))
	var bad *roots.RootError
	_, err := roots.New(roots.Options{}, rw("one", dir+"/f.txt"), rw("two", dir+"/g.txt"))
	if !errors.As(err, &bad) || bad.Root.Name != "two" || !strings.Contains(err.Error(), `root "two": it is a hard link to the file of root "one"`) {
		t.Errorf("got %v", err)
	}
	set := newSet(t, rw("one", dir+"/f.txt"), rw("two", dir+"/l.txt"))
	p, err := set.Resolve("two")
	must(t, err)
	if p.Resolved() != "two" || p.Key() != dir+"/f.txt" || !slices.Equal(p.Names(), []string{"two", "one"}) {
		t.Errorf("%s, %q", p.Resolved(), p.Names())
	}
	if !denied(t, "deny read_file(one)", p.Act(roots.AccessRead)) {
		t.Errorf("%+v", p.Target())
	}
	if _, err := roots.New(roots.Options{}, rw("one", dir+"/a"), rw("one", dir)); err == nil || !strings.Contains(err.Error(), "two roots of this name") {
		t.Errorf("got %v", err)
	}
}

// What a caller calls by another name is denied by that name too, and allowed by none.
func TestNamesOfTheParent(t *testing.T) {
	dir := tree(t, "proj/secret", "proj/in/a")
	parent := newSet(t, free("p", dir+"/proj"), free("too", dir+"/proj"), roots.Root{Name: "in", Host: dir + "/proj/in"})
	child, err := parent.Narrow(roots.Options{}, free("x", dir+"/proj"), rw("y", dir+"/proj"))
	must(t, err)
	defer child.Close()
	for _, name := range []string{"x/secret", "y/secret"} {
		wantVerdict(t, child, name, roots.AccessWrite, policy.VerdictAsk)
		act := verdict(t, child, name, roots.AccessWrite)
		for _, rule := range []string{"p/secret", "too/**", "x/secret", "y/**"} {
			if !denied(t, "deny write_file("+rule+")", act) {
				t.Errorf("a deny of %s does not meet %s: %+v", rule, name, act.Target)
			}
		}
		if covered(t, "allow write_file(p/**)", act) {
			t.Errorf("an allow for the parent's name covers %s", name)
		}
	}
	wantVerdict(t, child, "y/in/a", roots.AccessWrite, policy.VerdictBlock)
	if act := verdict(t, child, "x/in/a", roots.AccessRead); !denied(t, "deny read_file(in/a)", act) {
		t.Errorf("%+v", act.Target)
	}
}

func TestRootsBelowAFolderAreThereOnce(t *testing.T) {
	dir := tree(t, "proj/in/a")
	set := newSet(t, rw("p", dir+"/proj"), rw(".", dir+"/proj"), rw("in", dir+"/proj/in"), rw("too", dir+"/proj/in"))
	p, err := set.Resolve("p")
	must(t, err)
	below := p.Below()
	if len(below) != 1 || below[0].Name() != "in" {
		t.Errorf("%d below", len(below))
	}
}

// Whatever roots there are: a name leads back to the file that has it, every name of a file
// is judged alike, and a deny by one of them is met by all.
func TestNamesLeadBack(t *testing.T) {
	dir := tree(t, "p/x", "p/src/x", "p/src/docs/x", "p/docs/x", "p/docs/src/x", "link -> p", "p/l -> src", "p/src/up -> ../docs/x", "p/.x -> src/docs")
	files := []string{"/p/x", "/p/src/x", "/p/src/docs/x", "/p/docs/x", "/p/docs/src/x", "/link/src/x", "/p/l/docs/x", "/p/src/up", "/p/.x/x", "/p/src/new", "/p/docs"}
	var options []roots.Root
	for _, name := range []string{".", "src", "docs"} {
		for i, host := range []string{"/p", "/link", "/p/src", "/p/docs"} {
			r := rw(name, dir+host)
			if i%2 == 1 {
				r.Approval = map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictAsk, roots.AccessWrite: policy.VerdictFree}
			}
			options = append(options, r)
		}
	}
	sets := 0
	for i := range options {
		for j := i; j < len(options); j++ {
			for k := j; k < len(options); k++ {
				var list []roots.Root
				for _, r := range []roots.Root{options[i], options[j], options[k]} {
					if !slices.ContainsFunc(list, func(o roots.Root) bool { return o.Name == r.Name }) {
						list = append(list, r)
					}
				}
				set, err := roots.New(roots.Options{}, list...)
				must(t, err)
				for _, file := range files {
					leadBack(t, set, dir+file)
				}
				must(t, set.Close())
				sets++
			}
		}
	}
	if sets < 300 {
		t.Errorf("%d sets", sets)
	}
}

func leadBack(t *testing.T, set *roots.Set, abs string) {
	t.Helper()
	p, _, err := set.ResolveHost(abs)
	must(t, err)
	target := p.Target()
	written := p.Act(roots.AccessWrite)
	for _, spelling := range slices.Concat(target.Written, []string{p.Resolved()}) {
		if strings.HasPrefix(spelling, "/") {
			continue
		}
		again, err := set.Resolve(spelling)
		if err != nil {
			continue // by name a link does not lead out of its root
		}
		if again.Key() != p.Key() {
			t.Fatalf("%v: %s is called %s, and that is %s", set.Roots(), abs, spelling, again.Key())
		}
		if slices.Contains(target.Written, spelling) && again.Act(roots.AccessWrite).Verdict != written.Verdict {
			t.Fatalf("%v: %s is %v, and as %s %v", set.Roots(), abs, written.Verdict, spelling, again.Act(roots.AccessWrite).Verdict)
		}
		also := again.Target()
		for _, other := range target.Resolved {
			if !slices.Contains(also.Written, other) && !slices.Contains(also.Resolved, other) {
				t.Fatalf("%v: a deny of %s meets %s, and not %s: %+v", set.Roots(), other, abs, spelling, also)
			}
		}
	}
}

// The words of a root hold for what will be made there.
func TestRootsThatDoNotExist(t *testing.T) {
	dir := tree(t, "proj/", "link -> proj/new")
	list := []roots.Root{free(".", dir+"/proj"), {Name: "new", Host: dir + "/proj/new", Source: "policy.yaml:3"}, rw("too", dir+"/link"), rw("gone", dir+"/gone/far")}
	var bad *roots.RootError
	if _, err := roots.New(roots.Options{}, list...); !errors.As(err, &bad) || bad.Root.Name != "new" {
		t.Errorf("got %v", err)
	}
	set := newSetWith(t, roots.Options{Missing: true}, list...)
	for path, want := range map[string]policy.Verdict{"/proj/a": policy.VerdictFree, "/proj/new/a": policy.VerdictBlock, "/link/a": policy.VerdictBlock, "/gone/far/a": policy.VerdictAsk, "/gone/a": policy.VerdictAsk} {
		p, _, err := set.ResolveHost(dir + path)
		must(t, err)
		if act := p.Act(roots.AccessWrite); act.Verdict != want {
			t.Errorf("%s is %v: %s", path, act.Verdict, act.Why)
		}
	}
	p, inside, err := set.ResolveHost(dir + "/proj/new/a")
	must(t, err)
	if !inside || p.Name() != "new/a" || !denied(t, "deny read_file(too/**)", p.Act(roots.AccessRead)) {
		t.Errorf("inside %v, %s: %+v", inside, p.Name(), p.Target())
	}
	for _, name := range []string{"new/a", "too/a", "gone"} {
		if act := wantVerdict(t, set, name, roots.AccessRead, policy.VerdictBlock); !strings.Contains(act.Why, "does not exist") || strings.Contains(act.Why, dir) {
			t.Errorf("%s: %s", name, act.Why)
		}
	}
	nowhere := newSetWith(t, roots.Options{Missing: true}, rw(".", dir+"/none"))
	wantVerdict(t, nowhere, "/etc/passwd", roots.AccessRead, policy.VerdictBlock)
}
