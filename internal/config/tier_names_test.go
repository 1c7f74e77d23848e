package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/roots"
)

// summary writes a root in a line: mode and the words on read, write and delete.
func summary(r roots.Root) string {
	return fmt.Sprint(modeOf(r), " ", wordOf(r, roots.AccessRead), " ", wordOf(r, roots.AccessWrite), " ", wordOf(r, roots.AccessDelete))
}

// The root that a hook adds for the agent's folder means what the files say about that
// folder, by whatever name, and is the default where they say nothing.
func TestTheBuiltInRootSpeaksWhereNoFileDoes(t *testing.T) {
	for name, c := range map[string]struct {
		dir, user, project string
		untrusted          bool
		want               map[string]string
	}{
		"no file":              {"/proj", "", "", false, map[string]string{".": "rw allow ask ask"}},
		"its own name":         {"/proj", "", "{'.': {root: .}}", false, map[string]string{".": "rw allow ask ask"}},
		"another name":         {"/proj", "", "{p: {root: .}}", false, map[string]string{".": "rw allow ask ask", "p": "rw allow ask ask"}},
		"free":                 {"/proj", "", "{p: {root: ., mode: rw, approval: {write: allow}}}", false, map[string]string{".": "rw allow allow ask", "p": "rw allow allow ask"}},
		"stricter":             {"/proj", "", "{p: {root: ., approval: {read: ask, delete: deny}}}", false, map[string]string{".": "rw ask ask deny", "p": "rw ask ask deny"}},
		"read-only":            {"/proj", "", "{p: {root: ., mode: ro}}", false, map[string]string{".": "ro allow ask ask", "p": "ro allow ask ask"}},
		"once":                 {"/proj", "", "{p: {root: ., approval: {write: once_per_session}}}", false, map[string]string{".": "rw allow once_per_session ask", "p": "rw allow once_per_session ask"}},
		"a subfolder, silent":  {"/proj/sub", "", "{p: {root: .}}", false, map[string]string{".": "rw allow ask ask", "p": "ro allow ask ask"}},
		"a subfolder, free":    {"/proj/sub", "", "{p: {root: ., mode: rw, approval: {write: allow}}}", false, map[string]string{".": "rw allow allow ask", "p": "rw allow allow ask"}},
		"a subfolder, denied":  {"/proj/sub", "", "{p: {root: ., approval: {read: deny}}}", false, map[string]string{".": "rw deny ask ask", "p": "ro deny ask ask"}},
		"a subfolder, ro":      {"/proj/sub", "", "{p: {root: ., mode: ro}}", false, map[string]string{".": "ro allow ask ask", "p": "ro allow ask ask"}},
		"the nearest":          {"/proj/sub/x", "", "{p: {root: ., approval: ask}, s: {root: ./sub, mode: rw, approval: allow}}", false, map[string]string{".": "rw allow allow allow", "p": "ro ask ask ask", "s": "rw allow allow allow"}},
		"two names around":     {"/proj/sub", "", "{p: {root: ., mode: rw, approval: {read: ask, write: allow}}, q: {root: ., approval: {write: ask}}}", false, map[string]string{".": "rw ask ask ask", "p": "rw ask allow ask", "q": "ro allow ask ask"}},
		"two names at it":      {"/proj", "", "{p: {root: ., mode: rw, approval: allow}, q: {root: ., approval: {write: ask}}}", false, map[string]string{".": "rw allow ask ask", "p": "rw allow allow allow", "q": "rw allow ask ask"}},
		"below it":             {"/proj", "", "{p: {root: ./docs}}", false, map[string]string{".": "rw allow ask ask", "p": "ro allow ask ask"}},
		"the user's":           {"/proj", "{u: {root: /proj, mode: rw, approval: {write: allow}}}", "", false, map[string]string{".": "rw allow allow ask", "u": "rw allow allow ask"}},
		"not trusted":          {"/proj", "", "{p: {root: ., mode: rw, approval: {read: deny, write: allow}}}", true, map[string]string{".": "rw deny ask ask"}},
		"user and not trusted": {"/proj", "{u: {root: /proj, mode: rw, approval: {write: allow}}}", "{p: {root: ., approval: {write: ask, delete: deny}}}", true, map[string]string{".": "rw allow ask deny", "u": "rw allow ask deny"}},
		"not trusted, inside":  {"/proj/sub", "{u: {root: /proj, mode: rw, approval: {write: allow}}}", "{p: {root: ./sub, approval: {write: deny}}}", true, map[string]string{".": "rw allow deny ask", "u": "rw allow allow ask"}},
		"its name is taken":    {"/proj/sub", "", "{'.': {root: ., approval: {read: deny}}}", false, map[string]string{".": "ro deny ask ask"}},
		"elsewhere":            {"/proj", "", "{'.': {root: ./sub, mode: ro}}", false, map[string]string{".": "ro allow ask ask"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := []Tier{{Kind: BuiltIn, Policy: &Policy{
				File: "built in", Secrets: roots.DefaultSecrets(),
				Roots: []roots.Root{{Name: ".", Host: c.dir, Mode: roots.ModeReadWrite, Source: "built in"}},
			}}}
			section := func(paths string) string {
				if paths == "" {
					return ""
				}
				return "sandbox: {paths: " + paths + "}\n"
			}
			e, err := Combine(nil, append(all, tiers(t, "", section(c.user), section(c.project), !c.untrusted)...)...)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, r := range e.Roots {
				got[r.Name] = summary(r)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			for _, note := range e.Notes {
				if strings.Contains(note.Text, `"."`) {
					t.Errorf("the built-in root is noted: %s", note)
				}
			}
		})
	}
}

func TestADenyOfALaterTierHoldsInARootThatLiesInIt(t *testing.T) {
	for name, c := range map[string]struct{ user, project, want string }{
		"around":                  {"{in: {root: /a/in, mode: rw, approval: allow}}", "{all: {root: /a, approval: {write: deny}}}", "rw allow deny allow"},
		"the same folder":         {"{in: {root: /a/in, mode: rw, approval: allow}}", "{too: {root: /a/in, approval: {delete: deny}}}", "rw allow allow deny"},
		"the name is taken over":  {"{in: {root: /a/in, mode: rw}}", "{in: {root: /a, approval: {write: deny}}}", "ro allow deny ask"},
		"an ask is no deny":       {"{in: {root: /a/in, mode: rw, approval: allow}}", "{all: {root: /a, approval: ask}}", "rw allow allow allow"},
		"its own file lifts it":   {"{in: {root: /a/in, mode: rw, approval: allow}}", "{all: {root: /a, approval: {write: deny}}, i: {root: /a/in, mode: rw}}", "rw allow allow allow"},
		"its own, of the name in": {"{in: {root: /a/in, mode: rw, approval: allow}}", "{all: {root: /a, approval: {write: deny}}, in: {root: /a/in, mode: rw}}", "rw allow allow allow"},
	} {
		e := combine(t, "", "sandbox: {paths: "+c.user+"}\n", "sandbox: {paths: "+c.project+"}\n", true)
		i := slices.IndexFunc(e.Roots, func(r roots.Root) bool { return r.Name == "in" })
		if got := summary(e.Roots[i]); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNamesThatDifferAreNoted(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"the same words": {"sandbox:\n  paths:\n    a: {root: /x, mode: rw}\n    b: {root: /x, mode: rw}\n", ""},
		"mode and words": {"sandbox:\n  paths:\n    a: {root: /x, mode: rw, approval: {write: allow}}\n    b: {root: /x/}\n",
			`policy.yaml:4: root "b" is the same folder as root "a" (policy.yaml:3); where they differ the stricter holds: mode: ro, write: ask`},
		"once":     {"sandbox:\n  paths:\n    a: {root: /x, approval: {write: once_per_session}}\n    b: {root: /x}\n", "write: ask"},
		"suffixes": {"sandbox:\n  paths:\n    a: {root: /x, suffixes: [.md, .tar.gz]}\n    b: {root: /x, suffixes: [.gz, .go]}\n", "holds: suffixes: .tar.gz"},
		"none":     {"sandbox:\n  paths:\n    a: {root: /x, suffixes: [.md]}\n    b: {root: /x, suffixes: [.go]}\n", "suffixes: none are accepted"},
		"size":     {"sandbox:\n  paths:\n    a: {root: /x, max_file_bytes: 10}\n    b: {root: /x}\n", "max_file_bytes: 10"},
		"the third": {"sandbox:\n  paths:\n    a: {root: /x}\n    b: {root: /x}\n    c: {root: /x, approval: {read: deny}}\n",
			`policy.yaml:5: root "c" is the same folder as root "a" (policy.yaml:3); where they differ the stricter holds: read: deny`},
		"apart": {"sandbox:\n  paths:\n    a: {root: /x, mode: rw}\n    b: {root: /x/y}\n", ""},
	} {
		p, err := Load("policy.yaml", []byte(c.text), "/base")
		if err != nil {
			t.Fatal(err)
		}
		e, err := Combine(nil, Tier{Kind: Operator, Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range e.Notes {
			got = append(got, n.String())
		}
		if text := strings.Join(got, "\n"); (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// Both words hold, also where the second cannot be written as a list of words.
func TestStricter(t *testing.T) {
	rw := roots.Root{Name: "a", Mode: roots.ModeReadWrite, Approval: verdicts{roots.AccessWrite: policy.VerdictFree, roots.AccessDelete: policy.VerdictFree}}
	once := roots.Root{Name: "b", Mode: roots.ModeReadWrite, Once: []roots.Access{roots.AccessWrite}, MaxFileBytes: 5, Suffixes: []string{".md"}}
	for _, both := range []roots.Root{stricter(rw, once), stricter(once, rw)} {
		if summary(both) != "rw allow once_per_session ask" || both.MaxFileBytes != 5 || !slices.Equal(both.Suffixes, []string{".md"}) || len(both.Once) != 1 {
			t.Errorf("%+v", both)
		}
	}
	if set, err := roots.New(roots.Options{}, func() roots.Root { r := stricter(rw, rw); r.Host = t.TempDir(); return r }()); err != nil {
		t.Error(err)
	} else {
		set.Close()
	}
}

func TestTheProfileTakesTheStrictestOfSeveralNames(t *testing.T) {
	p := derive(t, `
sandbox:
  paths:
    a: {root: /one, mode: rw}
    b: {root: /one, mode: ro}
    c: {root: ./link, mode: rw, approval: {write: deny}}
    d: {root: ./real, mode: rw, approval: {delete: deny}}
    e: {root: /three, mode: rw}
    f: {root: /three/, mode: rw, approval: {read: deny}}
    g: {root: /four, mode: rw}
    h: {root: /four, mode: rw}
  extra:
    read: [/four]
    write: [/one]
`)
	want := []string{"rw /four true policy.yaml:10", "ro /one true policy.yaml:5", "ro /base/real true policy.yaml:6"}
	slices.Sort(want)
	got := rootLines(p)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]sandbox.Entry{{Path: "/three", Source: "policy.yaml:9"}}, p.Masked); diff != "" {
		t.Error(diff)
	}
}

// A folder that one of its names lets tools write is made, and then all names are there.
func TestMissingRootsUnderSeveralNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	p := &Policy{Roots: []roots.Root{
		{Name: "a", Host: dir + "/new", Mode: roots.ModeReadWrite}, {Name: "b", Host: dir + "/link/new"}, {Name: "c", Host: dir + "/other"}, {Name: "d", Host: dir, Mode: roots.ModeReadWrite},
	}}
	var got []string
	for _, r := range p.MissingRoots() {
		got = append(got, r.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
}

// What the system says is one folder is one, whatever its paths are.
func TestOneFolderByIdentity(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/f", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(dir+"/f", dir+"/g"); err != nil {
		t.Fatal(err)
	}
	groups, err := sameFolders([]roots.Root{{Host: dir + "/f"}, {Host: dir}, {Host: dir + "/g"}, {Host: dir + "/none"}},
		func(p string) (string, error) { return filepath.Clean(p), nil })
	if diff := cmp.Diff([][]int{{0, 2}, {1}, {3}}, groups); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
