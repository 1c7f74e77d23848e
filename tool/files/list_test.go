package files_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

type listResult struct {
	Roots     []struct{ Name, Mode string } `json:"roots"`
	Files     []string                      `json:"files"`
	Truncated bool                          `json:"truncated"`
	LeftOut   int                           `json:"left_out"`
}

func TestList(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "", "b.txt": "", "d/c.md": "", "d/e/f.md": "", ".git/config": "", "d/.env": ""})
	must(t, os.Symlink("a.md", w.dir+"/notes/link.md"))
	must(t, os.Symlink("/etc/passwd", w.dir+"/notes/out.md"))
	must(t, os.Mkdir(w.dir+"/notes/empty", 0o755))
	for _, c := range []struct {
		in      args
		want    []string
		leftOut int
	}{
		{args{"path": "notes"}, []string{"notes/a.md", "notes/b.txt", "notes/d/c.md", "notes/d/e/f.md", "notes/link.md"}, 2},
		{args{"path": "/notes/", "pattern": "*.md"}, []string{"notes/a.md", "notes/link.md"}, 2},
		{args{"path": "notes", "pattern": "**/*.md"}, []string{"notes/a.md", "notes/d/c.md", "notes/d/e/f.md", "notes/link.md"}, 2},
		{args{"path": "notes/d"}, []string{"notes/d/c.md", "notes/d/e/f.md"}, 1},
		{args{"path": "notes/d", "pattern": "*.md"}, []string{"notes/d/c.md"}, 1},
		{args{"path": "notes/empty"}, []string{}, 0},
		{args{"path": "notes/.git"}, []string{"notes/.git/config"}, 0},
		{args{"path": "/", "pattern": "notes/d/*"}, []string{"notes/d/c.md"}, 2},
	} {
		got := decode[listResult](t, w.ok("list_files", c.in))
		if !slices.Equal(got.Files, c.want) || got.LeftOut != c.leftOut || got.Truncated {
			t.Errorf("%v: %+v, want %q and %d left out", c.in, got, c.want, c.leftOut)
		}
	}
	w.blocked("list_files", args{"path": "notes", "pattern": "../*"}, "leads out")
	w.blocked("list_files", args{"path": "notes", "pattern": "/etc/*"}, "leads out")
	w.invalid("list_files", args{"path": "notes", "pattern": "[a"}, "malformed")
	w.fails("list_files", args{"path": "notes/a.md"}, "is a file")
	w.fails("list_files", args{"path": "notes/none"}, "does not exist")
	w.wantAsked(0)
}

func manyRoots(t *testing.T) *world {
	return newWorld(t, setup{
		tree: map[string]string{"a/x.md": "find me\n", "a/in/y.md": "find me\n", "shut/z.md": "find me\n", "a/shut/q.md": "find me\n", "ask/s.md": "find me\n"},
		roots: []roots.Root{
			{Name: "a", Host: "a", Mode: roots.ModeReadWrite},
			{Name: "shut", Host: "shut", Approval: verdicts(policy.VerdictBlock, roots.AccessRead)},
			{Name: "inner-shut", Host: "a/shut", Approval: verdicts(policy.VerdictBlock, roots.AccessRead)},
			{Name: "inner-ask", Host: "a/in", Approval: ask(roots.AccessRead)},
		},
	})
}

func TestListRoots(t *testing.T) {
	w := manyRoots(t)
	got := decode[listResult](t, w.ok("list_files", args{"path": "/"}))
	if len(got.Roots) != 2 || got.Roots[0].Name != "a" || got.Roots[0].Mode != "rw" || got.Roots[1].Name != "inner-ask" || got.Roots[1].Mode != "ro" {
		t.Errorf("roots %+v", got.Roots)
	}
	w.wantAsked(1) // one of those listed asks
	w.blocked("list_files", args{"path": "shut"}, "blocked by policy")
}

// The model is told the list that the person was shown, or the person is asked again.
func TestAListThatAsksIsBoundToWhatWasShown(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"notes/a.md": "one\n"}, roots: []roots.Root{
		{Name: "notes", Host: "notes", Approval: map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictAsk}},
	}})
	b := w.gate.Review(t.Context(), callOf("list_files", args{"path": "notes"}))
	must(t, b.Resolve(t.Context(), b.Pending()[0].Approve("")))
	w.writeHost("notes/secret-plan.md", "x")
	results, _ := tool.Finish(t.Context(), w.gate, b)
	if results[0].Outcome.State != policy.StatePending || strings.Contains(results[0].Text, "secret-plan") {
		t.Errorf("%s: %s", results[0].Outcome.State, results[0].Text)
	}
}

func TestListAsksForRootsInside(t *testing.T) {
	w := manyRoots(t)
	got := decode[listResult](t, w.ok("list_files", args{"path": "a"}))
	w.wantAsked(1)
	if q, view := w.lastAsked(); len(q.Acts) != 2 || len(q.Open) != 1 || !strings.Contains(view.Content, "a/in/y.md") {
		t.Errorf("acts %v, shown %q", q.Acts, view.Content)
	}
	if !slices.Equal(got.Files, []string{"a/in/y.md", "a/x.md"}) || got.LeftOut != 1 {
		t.Errorf("%+v", got)
	}
	w.answer = no
	if r := w.call("list_files", args{"path": "a"}); strings.Contains(r.Text, "x.md") {
		t.Errorf("told %s", r.Text)
	}
}

type searchResult struct {
	Matches []struct {
		Path string
		Line int
		Text string
	}
	Searched  int
	Truncated bool
	LeftOut   int `json:"left_out"`
}

func TestSearch(t *testing.T) {
	w := notes(t, map[string]string{"a.md": "one\ntwo needle\n", "d/b.md": "Needle\r\n", ".env": "needle\n", "bin": "needle\x00", "c": "nothing"})
	got := decode[searchResult](t, w.ok("search_files", args{"pattern": "(?i)need", "path": "notes"}))
	if len(got.Matches) != 2 || got.Matches[0].Path != "notes/a.md" || got.Matches[0].Line != 2 || got.Matches[0].Text != "two needle" ||
		got.Matches[1].Path != "notes/d/b.md" || got.Matches[1].Text != "Needle" || got.LeftOut != 1 || got.Truncated {
		t.Errorf("%+v", got)
	}
	if one := decode[searchResult](t, w.ok("search_files", args{"pattern": "needle", "path": "notes/a.md"})); len(one.Matches) != 1 {
		t.Errorf("in one file: %+v", one)
	}
	if all := decode[searchResult](t, w.ok("search_files", args{"pattern": "needle"})); len(all.Matches) != 1 {
		t.Errorf("everywhere: %+v", all)
	}
	w.invalid("search_files", args{"pattern": "(", "path": "notes"}, "regular expression")
	w.fails("search_files", args{"pattern": "x", "path": "notes/none"}, "does not exist")
	w.wantAsked(0)
}

func TestSearchAsksForRootsInside(t *testing.T) {
	w := manyRoots(t)
	got := decode[searchResult](t, w.ok("search_files", args{"pattern": "find", "path": "a"}))
	w.wantAsked(1)
	if len(got.Matches) != 2 || got.LeftOut != 1 {
		t.Errorf("%+v", got)
	}
}

func TestLimits(t *testing.T) {
	tree := map[string]string{"p/a": "x\nx\nx\n", "p/b": "x\n", "p/c": "x\n"}
	root := roots.Root{Name: "p", Host: "p"}
	for name, c := range map[string]struct {
		limits  files.Limits
		matches int
		listed  int
	}{
		"matches": {files.Limits{Matches: 2}, 2, 3},
		"files":   {files.Limits{Files: 1}, 3, 3},
		"bytes":   {files.Limits{Bytes: 7}, 3, 3},
		"listed":  {files.Limits{Listed: 2}, 5, 2},
		"entries": {files.Limits{Entries: 2}, 3, 1},
	} {
		w := newWorld(t, setup{tree: tree, roots: []roots.Root{root}, options: files.Options{Limits: c.limits}})
		s := decode[searchResult](t, w.ok("search_files", args{"pattern": "x", "path": "p"}))
		l := decode[listResult](t, w.ok("list_files", args{"path": "p"}))
		if len(s.Matches) != c.matches || s.Truncated != (c.matches < 5) || len(l.Files) != c.listed || l.Truncated != (c.listed < 3) {
			t.Errorf("%s: %+v %+v", name, s, l)
		}
	}
}

func TestDeniedByARuleIsLeftOut(t *testing.T) {
	opts := files.Options{Denied: func(a policy.Act) bool { return strings.HasSuffix(a.Target.Written[0], "b.md") }}
	w := newWorld(t, setup{tree: map[string]string{"p/a.md": "x", "p/b.md": "x"}, options: opts, roots: []roots.Root{{Name: "p", Host: "p"}}})
	got := decode[listResult](t, w.ok("list_files", args{"path": "p"}))
	if !slices.Equal(got.Files, []string{"p/a.md"}) || got.LeftOut != 1 {
		t.Errorf("%+v", got)
	}
}

// A root of the same name hides a folder of the root named dot.
func TestListOfDotWithAHiddenFolder(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "", "p/notes/b": "", "q/b": ""}, roots: []roots.Root{
		{Name: ".", Host: "p"}, {Name: "notes", Host: "q"}}})
	got := decode[listResult](t, w.ok("list_files", args{"path": "."}))
	if !slices.Equal(got.Files, []string{"a"}) {
		t.Errorf("%+v", got)
	}
}

// A link in the folder to files that ask is not covered by consent to the folder.
func TestSearchDoesNotFollowLinksToWhatAsks(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/sub/a": "needle", "p/private/b": "needle", "p/c": "needle"}, roots: []roots.Root{
		{Name: "p", Host: "p"}, {Name: "private", Host: "p/private", Approval: ask(roots.AccessRead)}}})
	must(t, os.Symlink("../private/b", w.dir+"/p/sub/b"))
	must(t, os.Symlink("../c", w.dir+"/p/sub/c"))
	got := decode[searchResult](t, w.ok("search_files", args{"pattern": "needle", "path": "p/sub"}))
	if len(got.Matches) != 2 || got.Matches[1].Path != "p/sub/c" || got.LeftOut != 1 {
		t.Errorf("%+v", got)
	}
	w.wantAsked(0)
}

// Who consents to a search of a secret gets one.
func TestSearchInASecret(t *testing.T) {
	w := notes(t, map[string]string{".ssh/config": "needle", ".env": "needle"})
	for _, path := range []string{"notes/.ssh", "notes/.env"} {
		if got := decode[searchResult](t, w.ok("search_files", args{"pattern": "needle", "path": path})); len(got.Matches) != 1 {
			t.Errorf("%s: %+v", path, got)
		}
	}
	w.wantAsked(2)
}

// Who is asked about a search is told what would be searched, and for what.
func TestASearchThatAsksShowsWhereAndHowMuch(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/a": "x", "p/b": "x", "p/.env": "x", "p/in/c": "x", "p/.git/config": "x"}, roots: []roots.Root{
		{Name: "p", Host: "p", Approval: ask(roots.AccessRead)}, {Name: "in", Host: "p/in"}}})
	w.ok("search_files", args{"pattern": "ne+dle", "path": "p"})
	_, view := w.lastAsked()
	for _, want := range []string{"Pattern: ne+dle\n", "Where:   p\n", "Roots:   p, in\n", "Files:   3 files (1 left out"} {
		if !strings.Contains(view.Content, want) {
			t.Errorf("%q is missing in %q", want, view.Content)
		}
	}
	// What is searched in the end is what was shown.
	w.meanwhile = func() {
		if len(w.asked) == 2 {
			w.writeHost("p/late", "needle")
		}
	}
	w.ok("search_files", args{"pattern": "needle", "path": "p"})
	w.wantAsked(3)
}

// What is not looked into is said, by name to who may read it.
func TestFoldersThatAreNotLookedIntoAreNamed(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"p/.git/config": "x", "p/sub/.git/config": "x", "p/shut/.git/config": "x", "p/a": "x"}, roots: []roots.Root{
		{Name: "p", Host: "p"}, {Name: "shut", Host: "p/shut", Approval: verdicts(policy.VerdictBlock, roots.AccessRead)}}})
	var got struct {
		NotInside []string `json:"not_inside"`
		LeftOut   int      `json:"left_out"`
	}
	for _, r := range []tool.Result{w.ok("list_files", args{"path": "p"}), w.ok("search_files", args{"path": "p", "pattern": "x"})} {
		got.NotInside = nil
		must(t, json.Unmarshal([]byte(r.Text), &got))
		if !slices.Equal(got.NotInside, []string{"p/.git", "p/sub/.git"}) || got.LeftOut != 1 {
			t.Errorf("%s: %+v", r.Tool, got)
		}
	}
}
