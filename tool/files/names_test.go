package files_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// twoNames is a world whose one folder is called p and ".".
func twoNames(t *testing.T, rules ...string) *world {
	t.Helper()
	return newWorld(t, setup{
		tree:  map[string]string{"proj/a.md": "find me\n", "proj/src/b.md": "find me\n"},
		roots: []roots.Root{{Name: ".", Host: "proj", Mode: roots.ModeReadWrite}, {Name: "p", Host: "proj", Mode: roots.ModeReadWrite}},
		rules: rules,
	})
}

func TestListAndSearchGoThroughAFolderOnce(t *testing.T) {
	w := twoNames(t)
	roots := w.ok("list_files", args{"path": "/"})
	if got := decode[struct {
		Roots []struct {
			Name, Mode string
			Also       []string
		}
	}](t, roots).Roots; len(got) != 1 || got[0].Name != "p" || !slices.Equal(got[0].Also, []string{"."}) {
		t.Errorf("roots %+v", got)
	}
	for _, c := range []struct {
		in   args
		want []string
	}{
		{args{"path": "/", "pattern": "**"}, []string{"p/a.md", "p/src/b.md"}},
		{args{"path": "/", "pattern": "p/src/*"}, []string{"p/src/b.md"}},
		{args{"path": "/", "pattern": "src/*"}, []string{"src/b.md"}}, // as the pattern names it
		{args{"path": "."}, []string{"a.md", "src/b.md"}},
		{args{"path": "p"}, []string{"p/a.md", "p/src/b.md"}},
		{args{"path": "p", "pattern": "src/*"}, []string{"p/src/b.md"}},
	} {
		if got := decode[listResult](t, w.ok("list_files", c.in)); !slices.Equal(got.Files, c.want) {
			t.Errorf("%v: %q, want %q", c.in, got.Files, c.want)
		}
	}
	for path, want := range map[string]string{"": "p/a.md p/src/b.md", ".": "a.md src/b.md", "p": "p/a.md p/src/b.md", "src": "src/b.md"} {
		var got []string
		found := decode[searchResult](t, w.ok("search_files", args{"path": path, "pattern": "find"}))
		for _, m := range found.Matches {
			got = append(got, m.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("search in %q finds %q, want %s", path, got, want)
		}
	}
}

// A folder of the project that has a root's name is listed under the name that it has left.
func TestListOfAFolderThatARootHides(t *testing.T) {
	tree := map[string]string{"proj/a.md": "one\n", "proj/src/a.md": "two\n", "proj/src/b.md": "three\n"}
	w := newWorld(t, setup{tree: tree, roots: []roots.Root{{Name: ".", Host: "proj"}, {Name: "src", Host: "proj"}}})
	got := decode[listResult](t, w.ok("list_files", args{"path": "."}))
	if want := []string{"a.md", "src/src/a.md", "src/src/b.md"}; !slices.Equal(got.Files, want) || got.LeftOut != 0 {
		t.Errorf("%+v, want %q", got, want)
	}
	if r := w.ok("read_file", args{"path": "src/src/b.md"}); !strings.Contains(r.Text, "three") {
		t.Errorf("read %s", r.Text)
	}
	natural := newWorld(t, setup{tree: tree, roots: []roots.Root{{Name: ".", Host: "proj"}, {Name: "src", Host: "proj/src"}}})
	if got := decode[listResult](t, natural.ok("list_files", args{"path": "."})); !slices.Equal(got.Files, []string{"a.md", "src/a.md", "src/b.md"}) || got.LeftOut != 0 {
		t.Errorf("%+v", got)
	}
	alone := newWorld(t, setup{tree: tree, roots: []roots.Root{{Name: ".", Host: "proj"}, {Name: "src", Host: "other"}}})
	if got := decode[listResult](t, alone.ok("list_files", args{"path": "."})); !slices.Equal(got.Files, []string{"a.md"}) || got.LeftOut != 2 {
		t.Errorf("%+v", got)
	}
}

func TestRulesHoldInListsAndSearchesByAnyName(t *testing.T) {
	for _, target := range []string{"p/src/b.md", "src/b.md", "src/**", "p/src/**"} {
		for _, path := range []string{"", ".", "p", "src", "p/src"} {
			w := newWorld(t, setup{
				tree:    map[string]string{"proj/a.md": "find me\n", "proj/src/b.md": "find me\n"},
				roots:   []roots.Root{{Name: ".", Host: "proj", Mode: roots.ModeReadWrite}, {Name: "p", Host: "proj", Mode: roots.ModeReadWrite}},
				options: files.Options{Denied: denyRead(t, target)},
			})
			if r := w.ok("search_files", args{"path": path, "pattern": "find"}); strings.Contains(r.Text, "b.md") || !strings.Contains(r.Text, `"left_out":1`) {
				t.Errorf("deny %s: search in %q finds %s", target, path, r.Text)
			}
		}
	}
}

// denyRead is what a gate with one deny says about a read.
func denyRead(t *testing.T, target string) func(policy.Act) bool {
	rule, err := policy.ParseRule("deny read_file(" + target + ")")
	must(t, err)
	set, err := policy.CompileRules([]policy.Rule{rule})
	must(t, err)
	return func(act policy.Act) bool {
		q := policy.Question{Call: &policy.Call{Tool: act.Name}, Acts: []policy.Act{act}}
		return policy.Policy{Fixed: set}.Judge(q).State == policy.StateAutoDenied
	}
}

func TestDeniesHoldByAnyName(t *testing.T) {
	for _, rule := range []string{"deny write_file(p/a.md)", "deny write_file(a.md)"} {
		w := twoNames(t, rule)
		for _, name := range []string{"a.md", "p/a.md", "./p/../a.md"} {
			r := w.call("write_file", args{"path": name, "content": "x"})
			if !errors.Is(r.Err, approval.ErrDenied) {
				t.Errorf("%s: writing %s: %v", rule, name, r.Err)
			}
		}
		w.has("proj/a.md", "find me\n")
		w.wantAsked(0)
	}
}

func TestMoveAndCopyBetweenTwoNames(t *testing.T) {
	w := twoNames(t)
	for _, tool := range []string{"move_file", "copy_file"} {
		w.fails(tool, args{"source": "p/a.md", "destination": "a.md"}, "exists already")
		w.fails(tool, args{"source": "a.md", "destination": "p/a.md"}, "exists already")
	}
	w.has("proj/a.md", "find me\n")
	move := w.ok("move_file", args{"source": "p/a.md", "destination": "new/c.md"})
	w.has("proj/a.md", "-")
	w.has("proj/new/c.md", "find me\n")
	q, _ := w.lastAsked()
	if q.Summary != "Move p/a.md to new/c.md (8 bytes, 1 line)" || q.Acts[0].String() != "delete_file(p/a.md)" || q.Acts[1].String() != "write_file(new/c.md)" {
		t.Errorf("%q, %v", q.Summary, q.Acts)
	}
	w.undone(move)
	w.has("proj/a.md", "find me\n")
	w.has("proj/new/c.md", "-")
}

// The calls of a turn see the earlier ones under every name.
func TestTurnAcrossTwoNames(t *testing.T) {
	w := twoNames(t)
	for _, r := range w.turn([]bool{true, true, true},
		callOf("edit_file", args{"path": "p/a.md", "old_text": "me", "new_text": "you"}),
		callOf("edit_file", args{"path": "a.md", "old_text": "you", "new_text": "them"}),
		callOf("write_file", args{"path": "src/c.md", "content": "new\n"}),
		callOf("list_files", args{"path": "p/src"})) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Tool, r.Err)
		}
		if r.Tool == "list_files" && !strings.Contains(r.Text, "p/src/c.md") {
			t.Errorf("listed %s", r.Text)
		}
	}
	if !strings.Contains(w.views[1].Content, "-find you\n+find them\n") {
		t.Errorf("the second edit is shown as %s", w.views[1].Content)
	}
	w.has("proj/a.md", "find them\n")
}

func TestUndoAcrossTwoNames(t *testing.T) {
	w := twoNames(t)
	first := w.ok("edit_file", args{"path": "p/a.md", "old_text": "me", "new_text": "you"})
	second := w.ok("edit_file", args{"path": "a.md", "old_text": "you", "new_text": "them"})
	if _, err := files.Restore(t.Context(), w.set, files.Options{Undo: w.undo}, idOf(t, first)); !errors.Is(err, files.ErrNotOurs) {
		t.Errorf("undoing the first before the second: %v", err)
	}
	if r := w.undone(second); r.Summary[0] != "Edit a.md (+1 −1 lines)" {
		t.Errorf("%q", r.Summary)
	}
	if r := w.undone(first); r.Summary[0] != "Edit p/a.md (+1 −1 lines)" {
		t.Errorf("%q", r.Summary)
	}
	w.has("proj/a.md", "find me\n")
}

func TestAReadOnlyNameHoldsForTheOther(t *testing.T) {
	w := newWorld(t, setup{tree: map[string]string{"proj/a.md": "one\n"}, roots: []roots.Root{
		{Name: "w", Host: "proj", Mode: roots.ModeReadWrite}, {Name: "r", Host: "proj", Source: "policy.yaml:5"},
	}})
	for _, name := range []string{"w/a.md", "r/a.md"} {
		w.blocked("write_file", args{"path": name, "content": "two\n"}, "root r, the same folder, is read-only (mode ro at policy.yaml:5)")
		w.blocked("delete_file", args{"path": name}, "read-only")
		w.ok("read_file", args{"path": name})
	}
	if got := decode[listResult](t, w.ok("list_files", args{"path": "/"})); len(got.Roots) != 1 || got.Roots[0].Mode != "ro" {
		t.Errorf("roots %+v", got.Roots)
	}
	w.has("proj/a.md", "one\n")
}

func TestTwoNamesForOneFile(t *testing.T) {
	tree := map[string]string{"todo.md": "one\n"}
	w := newWorld(t, setup{tree: tree, roots: []roots.Root{{Name: "todo", Host: "todo.md", Mode: roots.ModeReadWrite}, {Name: "list", Host: "todo.md", Mode: roots.ModeReadWrite}}})
	w.ok("edit_file", args{"path": "todo", "old_text": "one", "new_text": "two"})
	write := w.ok("write_file", args{"path": "list", "content": "three\n"})
	w.has("todo.md", "three\n")
	if r := w.ok("read_file", args{"path": "todo"}); !strings.Contains(r.Text, "three") {
		t.Errorf("read %s", r.Text)
	}
	w.undone(write)
	w.has("todo.md", "two\n")
	if _, err := os.Stat(w.dir + "/list"); err == nil {
		t.Error("a file of the second name was made")
	}
}
