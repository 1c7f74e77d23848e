package foreign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/roots"
)

// A project is a folder that an agent works in.
type project struct {
	t    *testing.T
	dir  string
	opts Options
}

func newProject(t *testing.T) *project {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: filepath.Join(top, "project")}
	p.write("a.txt", "one\ntwo\nthree\n")
	p.write("twice.txt", "x\nx\n")
	p.write("../other.txt", "other\n")
	p.write("../state/assent.db", "")
	p.write("book.ipynb", `{"cells":[{"id":"a","cell_type":"code","source":["print(1)\n"]}],"nbformat":4}`)
	set, err := roots.New(roots.Options{Protected: []string{filepath.Join(top, "state")}}, roots.Root{Name: ".", Host: p.dir, Mode: roots.ModeReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	p.opts = Options{Roots: set, Hosts: hosts.Policy{On: true}}
	return p
}

func (p *project) write(name, content string) {
	p.t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// propose says what a call would do. $DIR in the arguments is the project.
func (p *project) propose(name, args string) (approval.Proposal, error) {
	p.t.Helper()
	data, err := json.Marshal(json.RawMessage(strings.ReplaceAll(args, "$DIR", p.dir)))
	if err != nil {
		p.t.Fatal(err)
	}
	call := policy.Call{Tool: name, Arguments: data}
	set, err := tool.NewSet(For(call, false, p.opts))
	if err != nil {
		p.t.Fatal(err)
	}
	if call.Arguments, err = canonical.Arguments(data); err != nil {
		p.t.Fatal(err)
	}
	return set.Prepare(p.t.Context(), call)
}

func TestActs(t *testing.T) {
	for args, want := range map[[2]string]string{
		{"read_file", `{"path":"$DIR/a.txt"}`}:                                                 "free read_file(a.txt)",
		{"read_file", `{"path":"$DIR/../other.txt"}`}:                                          "ask read_file($TOP/other.txt)",
		{"list_files", `{"path":"$DIR"}`}:                                                      "free read_file(.)",
		{"write_file", `{"path":"$DIR/new.txt","content":"n"}`}:                                "ask write_file(new.txt)",
		{"write_file", `{"path":"$DIR/../other.txt","content":"n"}`}:                           "ask write_file($TOP/other.txt)",
		{"write_file", `{"path":"$DIR/../state/assent.db","content":"n"}`}:                     "block write_file($TOP/state/assent.db)",
		{"write_file", `{"path":"$DIR/.git/config","content":"n"}`}:                            "block write_file(.git/config)",
		{"delete_file", `{"path":"$DIR/a.txt"}`}:                                               "ask delete_file(a.txt)",
		{"edit_file", `{"path":"$DIR/a.txt","edits":[{"old_text":"one","new_text":"1"}]}`}:     "free read_file(a.txt), ask write_file(a.txt)",
		{"edit_file", `{"notebook":{"path":"$DIR/book.ipynb","cell":"a","mode":"replace"}}`}:   "free read_file(book.ipynb), ask write_file(book.ipynb)",
		{"http_request", `{"method":"GET","url":"https://go.dev/"}`}:                           "ask http_request(GET https://go.dev/), free connect(go.dev:443)",
		{"edit_file", patchArgs("*** Update File: a.txt", "*** Move to: b.txt", "-one", "+1")}: "free read_file(a.txt), ask delete_file(a.txt), ask write_file(b.txt)",
		{"edit_file", patchArgs("*** Add File: n.txt", "+n", "*** Delete File: a.txt")}:        "ask write_file(n.txt), ask delete_file(a.txt)",
		{"edit_file", patchArgs("*** Add File: ../other.txt", "+n")}:                           "ask write_file($TOP/other.txt)",
	} {
		p := newProject(t)
		proposal, err := p.propose(args[0], args[1])
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		var got []string
		for _, a := range proposal.Acts {
			got = append(got, a.Verdict.String()+" "+a.String())
		}
		if text := strings.ReplaceAll(strings.Join(got, ", "), filepath.Dir(p.dir), "$TOP"); text != want {
			t.Errorf("%s:\n got %s\nwant %s", args, text, want)
		}
	}
}

// patchArgs are the arguments of a patch of these lines.
func patchArgs(lines ...string) string {
	text := "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
	data, err := json.Marshal(map[string]string{"patch": text, "dir": "$DIR"})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestViews(t *testing.T) {
	for name, c := range map[string]struct {
		tool, args string
		kind       present.Kind
		says       []string
	}{
		"edit":      {"edit_file", `{"path":"$DIR/a.txt","edits":[{"old_text":"two","new_text":"2"}]}`, present.KindDiff, []string{"-two\n+2\n"}},
		"edits":     {"edit_file", `{"path":"$DIR/a.txt","edits":[{"old_text":"two","new_text":"2"},{"old_text":"2\nthree","new_text":"3"}]}`, present.KindDiff, []string{"-two\n-three\n+3\n"}},
		"all":       {"edit_file", `{"path":"$DIR/twice.txt","edits":[{"old_text":"x","new_text":"y","all":true}]}`, present.KindDiff, []string{"+y\n+y\n"}},
		"ambiguous": {"edit_file", `{"path":"$DIR/twice.txt","edits":[{"old_text":"x","new_text":"y"}]}`, present.KindText, []string{"occurs 2 times"}},
		"missing":   {"edit_file", `{"path":"$DIR/a.txt","edits":[{"old_text":"four","new_text":"4"}]}`, present.KindText, []string{"does not occur"}},
		"new file":  {"edit_file", `{"path":"$DIR/n.txt","edits":[{"old_text":"","new_text":"n\n"}]}`, present.KindFile, []string{"n\n"}},
		"write":     {"write_file", `{"path":"$DIR/a.txt","content":"one\n"}`, present.KindDiff, []string{"-two\n-three\n"}},
		"binary":    {"write_file", `{"path":"$DIR/a.txt","content":"\u0000"}`, present.KindText, []string{"000000"}},
		"delete":    {"delete_file", `{"path":"$DIR/a.txt"}`, present.KindFile, []string{"three"}},
		"read":      {"read_file", `{"path":"$DIR/a.txt"}`, present.KindFile, []string{"three"}},
		"cell":      {"edit_file", `{"notebook":{"path":"$DIR/book.ipynb","cell":"a","mode":"replace","source":"print(2)\n"}}`, present.KindDiff, []string{"print(2)"}},
		"patch":     {"edit_file", patchArgs("*** Update File: a.txt", "@@", " one", "-two", "+2"), present.KindDiff, []string{"-two\n+2\n"}},
		"patches":   {"edit_file", patchArgs("*** Update File: a.txt", "@@", "-two", "+2", "*** Add File: n.txt", "+new"), present.KindText, []string{"-two\n+2\n", "Create n.txt", "new"}},
		"misfit":    {"edit_file", patchArgs("*** Update File: a.txt", "@@", "-four", "+4"), present.KindText, []string{"do not occur"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			proposal, err := p.propose(c.tool, c.args)
			if err != nil {
				t.Fatal(err)
			}
			v, err := proposal.View(t.Context())
			if err != nil || v.Kind != c.kind {
				t.Fatalf("the view is a %s (%v):\n%s", v.Kind, err, v.Content)
			}
			for _, part := range c.says {
				if !strings.Contains(v.Content, part) {
					t.Errorf("it does not say %q:\n%s", part, v.Content)
				}
			}
		})
	}
}

func TestAnEditIsBoundToTheFile(t *testing.T) {
	p := newProject(t)
	edit := `{"path":"$DIR/a.txt","edits":[{"old_text":"two","new_text":"2"}]}`
	before, err := p.propose("edit_file", edit)
	if err != nil {
		t.Fatal(err)
	}
	p.write("a.txt", "one\ntwo\nthree\nfour\n")
	after, err := p.propose("edit_file", edit)
	if err != nil || before.State == after.State {
		t.Errorf("the file changed and the state did not (%v)", err)
	}
}

func TestASearchAsksAboutWhatItWouldRead(t *testing.T) {
	p := newProject(t)
	p.write("sub/.env", "TOKEN=1\n")
	p.write("node_modules/p/.env", "TOKEN=1\n")
	for args, want := range map[string]string{
		`{"path":"$DIR"}`:              "free read_file(.), ask read_file(sub/.env)",
		`{"path":"$DIR/node_modules"}`: "free read_file(node_modules), ask read_file(node_modules/p/.env)",
	} {
		proposal, err := p.propose("search_files", args)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range proposal.Acts {
			got = append(got, a.Verdict.String()+" "+a.String())
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

func TestPatchesThatCannotBeRead(t *testing.T) {
	for _, text := range []string{
		"", "*** Begin Patch\n*** End Patch", "*** Begin Patch\n+x\n*** End Patch", "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
		"*** Begin Patch\n*** Delete File: a\n+x\n*** End Patch", "*** Begin Patch\n*** Add File: \n+x\n*** End Patch",
		"*** Begin Patch\n*** Update File: a\n*** Rename File: b\n*** End Patch", "*** Begin Patch\n*** Add File: a\n+x",
		"*** Begin Patch\n*** Update File: a\n *** Add File: /etc/passwd\n+x\n*** End Patch",
	} {
		if hunks, err := readPatch(text); err == nil {
			t.Errorf("%q is read as %+v", text, hunks)
		}
	}
}

// FuzzPatch wants every file that a patch names to be an act, and no panic.
func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ x\n-one\n+1\n*** Add File: c\n+c\n*** Delete File: d\n*** End Patch", "one\n")
	f.Fuzz(func(t *testing.T, text, content string) {
		hunks, err := readPatch(text)
		if err != nil {
			return
		}
		named := 0
		for line := range strings.Lines(text) {
			for _, kind := range []string{addFile, deleteFile, updateFile} {
				if strings.HasPrefix(line, kind) {
					named++
				}
			}
		}
		if named < len(hunks) {
			t.Errorf("%d files are named, %d found", named, len(hunks))
		}
		for _, h := range hunks {
			h.apply([]byte(content)) // it may not fit
		}
	})
}
