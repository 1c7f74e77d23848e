package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

const worker = `---
sandbox:
  paths: {notes: {mode: rw, approval: {write: allow, delete: deny}}, docs: {}}
  network: {allow: [docs.example.org, 'db.example:5432', bad.example], deny: [bad.example]}
shell:
  presets: [readonly]
  rules: [{pattern: git log, approval: allow}, {pattern: rm, approval: deny}]
  env: [CI]
tools: {read_file: {approval: allow}}
custom_tools:
  notify: {command: [python3, scripts/notify.py, --fast], env: [TOKEN]}
  count: {}
  embedded: {}
connectors:
  github: {command: [./bin/server, data.json]}
  docs: {url: "https://docs.example.org/mcp", trust_annotations: true}
rules: [allow write_file(notes/**), deny read_file(**/.env)]
allow_workers: ["*"]
model: openai:gpt-5
---
Go.
`

// project is a folder with a worker and all that it names.
func project(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.worker": worker, "scripts/notify.py": "print(1)\n", "tools/count.sh": "#!/bin/sh\n", "tools/count.yaml": "description: Counts\n",
		"bin/server": "\x7fELF\x00\xff", "data.json": "{}", "unrelated.py": "",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func bundle(t *testing.T, dir string) Bundle {
	t.Helper()
	f, err := config.Read(filepath.Join(dir, "a.worker"), "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Of(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestABundleHasAllThatIsLoadedOrStarted(t *testing.T) {
	dir := project(t)
	var got []string
	for _, p := range bundle(t, dir).Parts {
		rel, err := filepath.Rel(dir, p.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rel)
	}
	want := []string{"a.worker", "bin/server", "data.json", "scripts/notify.py", "tools/count.sh", "tools/count.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnyChangeAsksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		what   string // of the change
		diff   string
	}{
		"the file": {func(t *testing.T, dir string) { put(t, dir+"/a.worker", strings.Replace(worker, "git log", "git", 1)) }, "changed a.worker",
			"-  rules: [{pattern: git log, approval: allow}, {pattern: rm, approval: deny}]\n+  rules: [{pattern: git, approval: allow}"},
		"a script":          {func(t *testing.T, dir string) { put(t, dir+"/scripts/notify.py", "print(2)\n") }, "changed scripts/notify.py", "-print(1)\n+print(2)"},
		"a tool":            {func(t *testing.T, dir string) { put(t, dir+"/tools/count.sh", "#!/bin/sh\nrm x\n") }, "changed tools/count.sh", "+rm x"},
		"its definition":    {func(t *testing.T, dir string) { put(t, dir+"/tools/count.yaml", "description: Kind\n") }, "changed tools/count.yaml", "+description: Kind"},
		"a server":          {func(t *testing.T, dir string) { put(t, dir+"/bin/server", "\x7fELF\x00\xfe") }, "changed bin/server", ""},
		"its argument":      {func(t *testing.T, dir string) { put(t, dir+"/data.json", "[]") }, "changed data.json", "+[]"},
		"a tool that comes": {func(t *testing.T, dir string) { put(t, dir+"/tools/embedded", "#!/bin/sh\n") }, "new tools/embedded", "+#!/bin/sh"},
		"a tool that goes":  {func(t *testing.T, dir string) { remove(t, dir+"/tools/count.sh") }, "gone tools/count.sh", ""},
		"a link elsewhere": {func(t *testing.T, dir string) {
			remove(t, dir+"/scripts/notify.py")
			if err := os.Symlink(dir+"/unrelated.py", dir+"/scripts/notify.py"); err != nil {
				t.Fatal(err)
			}
		}, "new unrelated.py", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			before := bundle(t, dir)
			store := Folder(filepath.Join(t.TempDir(), "trust"))
			if err := store.Put(t.Context(), Record{Path: before.Path, Parts: before.Parts, At: time.Unix(0, 0)}); err != nil {
				t.Fatal(err)
			}
			record, known, err := store.Get(t.Context(), before.Path)
			if err != nil {
				t.Fatal(err)
			}
			if state, changes := Compare(bundle(t, dir), record, known); state != Trusted || changes != nil {
				t.Fatalf("nothing changed: %v, %v", state, changes)
			}
			c.change(t, dir)
			state, changes := Compare(bundle(t, dir), record, known)
			if state != Changed {
				t.Fatal("it is trusted still")
			}
			what, path, _ := strings.Cut(c.what, " ")
			i := slices.IndexFunc(changes, func(x Change) bool { return x.What == what && x.Path == filepath.Join(dir, path) })
			if i < 0 || !strings.Contains(changes[i].Diff, c.diff) {
				t.Errorf("%+v", changes)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// A folder that becomes a link elsewhere has other roots, though the file is the same.
func TestALinkThatLeadsElsewhereAsksAgain(t *testing.T) {
	one, other := project(t), project(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(one, link); err != nil {
		t.Fatal(err)
	}
	was := bundle(t, link)
	record := Record{Path: was.Path, Parts: was.Parts}
	remove(t, link)
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	if state, _ := Compare(bundle(t, link), record, true); state != Changed {
		t.Error(state)
	}
	if state, _ := Compare(bundle(t, one), record, true); state != Untrusted {
		t.Error("under another path it is another file")
	}
}

func TestNothingIsTrustedByDefault(t *testing.T) {
	b := bundle(t, project(t))
	for name, r := range map[string]Record{"zero": {}, "empty": {Path: b.Path}, "of another file": {Path: "/x", Parts: b.Parts}} {
		if state, _ := Compare(b, r, true); state == Trusted {
			t.Errorf("%s: trusted", name)
		}
	}
	if state, _ := Compare(b, Record{Path: b.Path, Parts: b.Parts}, false); state != Untrusted {
		t.Error(state)
	}
}

// The bytes that were read are those that are trusted, whatever the file has become.
func TestTheBytesThatWereReadCount(t *testing.T) {
	dir := project(t)
	f, err := config.Read(filepath.Join(dir, "a.worker"), "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, f.Path, strings.Replace(worker, "git log", "git", 1))
	b, err := Of(f)
	if err != nil {
		t.Fatal(err)
	}
	if b.Parts[0].Text != worker {
		t.Error("the file was read again")
	}
}

// Whoever looks whether a file is trusted binds its tools to what was found, and to nothing
// that comes later.
func TestToolsAreBoundToTheBundle(t *testing.T) {
	dir := project(t)
	f, err := config.Read(filepath.Join(dir, "a.worker"), "")
	if err != nil {
		t.Fatal(err)
	}
	if f.Policy.Trusted != nil {
		t.Error("it is bound before anybody looked")
	}
	if _, err := Of(f); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "scripts/notify.py"), "print(2)\n")
	all, err := config.Combine(nil, config.Tier{Kind: config.Project, Policy: f.Policy, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all.CustomTools {
		if got := c.Trusted[filepath.Join(dir, "scripts/notify.py")]; got != policy.DigestOf([]byte("print(1)\n")) || len(c.Trusted) != 6 {
			t.Errorf("%s is bound to %v", c.Name, c.Trusted)
		}
	}
}

func TestFolder(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "state", "trust"))
	ctx := t.Context()
	if _, known, err := folder.Get(ctx, "/a"); known || err != nil {
		t.Fatal(known, err)
	}
	if list, err := folder.List(ctx); len(list) != 0 || err != nil {
		t.Fatal(list, err)
	}
	for _, path := range []string{"/b", "/a"} {
		if err := folder.Put(ctx, Record{Path: path, Parts: []Part{{Path: path, Digest: "d"}}}); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]os.FileMode{string(folder): 0o700, folder.file("/a"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	list, err := folder.List(ctx)
	if err != nil || len(list) != 2 || list[0].Path != "/a" {
		t.Errorf("%v, %v", list, err)
	}
	for _, want := range []bool{true, false} {
		if gone, err := folder.Remove(ctx, "/a"); gone != want || err != nil {
			t.Errorf("%v, %v", gone, err)
		}
	}
	put(t, folder.file("/b"), "{")
	if _, known, err := folder.Get(ctx, "/b"); known || err == nil || !strings.Contains(err.Error(), "remove it, and trust again") {
		t.Error(known, err)
	}
	put(t, folder.file("/b"), `{"path": "/c", "parts": [], "at": "2026-01-01T00:00:00Z"}`)
	if _, known, err := folder.Get(ctx, "/b"); known || err == nil {
		t.Error("a record of another file was taken")
	}
}

func TestPromises(t *testing.T) {
	dir := project(t)
	f, err := config.Read(filepath.Join(dir, "a.worker"), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range Promises(f) {
		got = append(got, strings.ReplaceAll(p.What+": "+p.Text, dir, "DIR"))
	}
	want := []string{
		"folder: DIR/notes (notes): read without asking, write without asking, delete never",
		"folder: DIR/docs (docs): read without asking, write never",
		"network: docs.example.org without asking",
		"network: db.example:5432 without asking",
		"commands: the agent gets a shell",
		"command: git log … without asking",
		"command: programs that only read and print, without asking",
		"variables: commands see CI",
		"tool: read_file without asking",
		"starts: python3 scripts/notify.py --fast, for the tool notify",
		"variables: notify sees TOKEN",
		"starts: the executable count in tools/, if there is one, for the tool count",
		"starts: the executable embedded in tools/, if there is one, for the tool embedded",
		"starts: ./bin/server data.json, for the tools of github",
		"connects: to https://docs.example.org/mcp, for the tools of docs",
		"believes: what docs says about its own tools",
		"allows: write_file(notes/**)",
		"workers: it may call any worker",
		"model: openai:gpt-5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPromisesOfHosts(t *testing.T) {
	for text, want := range map[string]string{
		"network: true": "after asking", "network: {deny: [bad.example, '*.evil.example']}": "after asking, without bad.example, *.evil.example", "network: false": "",
	} {
		p, err := config.Load("policy.yaml", []byte("sandbox: {"+text+"}\n"), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range Promises(&config.File{Policy: p}) {
			got += p.Text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
