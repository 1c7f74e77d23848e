package hook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/setup"
)

// TestGolden answers what each agent sends, version by version: NAME.in is the event,
// NAME.out the exit status and what was printed. With ASSENT_UPDATE=1 it writes the
// answers into the files.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	name, _, _ := strings.Cut(filepath.Base(file), "@")
	agent, err := agents.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	var written txtar.Archive
	written.Comment = archive.Comment
	for _, f := range archive.Files {
		event, ok := strings.CutSuffix(f.Name, ".in")
		if !ok {
			continue
		}
		got := newPlace(t).shown(agent, event, string(f.Data))
		if os.Getenv("ASSENT_UPDATE") == "" && got != want[event+".out"] {
			t.Errorf("%s: got\n%swant\n%s", event, got, want[event+".out"])
		}
		written.Files = append(written.Files, f, txtar.File{Name: event + ".out", Data: []byte(got)})
	}
	if os.Getenv("ASSENT_UPDATE") != "" {
		if err := os.WriteFile(file, txtar.Format(&written), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A place is a user's machine: a project, a home and assent's folders.
type place struct {
	t                             *testing.T
	top, project, state, settings string
}

// rules are the user's own, in the place.
const rules = `
tools:
  "github:search_*": {approval: allow}
rules:
  - deny shell(git push)
  - allow shell(npm test)
  - allow write_file(notes/**)
  - deny connector evil
`

func newPlace(t *testing.T) *place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, top: top, project: filepath.Join(top, "project"), state: filepath.Join(top, "state"), settings: filepath.Join(top, "config")}
	p.write("config/config.yaml", rules)
	p.write("project/main.go", "package main\n\nfunc main() {}\n")
	p.write("project/.env", "TOKEN=1\n")
	p.write("project/book.ipynb", `{"cells": [{"id": "a", "cell_type": "code", "source": ["print(1)\n"]}], "nbformat": 4}`+"\n")
	p.write("project/notes/a.md", "one\ntwo\n")
	p.write("elsewhere/b.txt", "b\n")
	return p
}

func (p *place) write(name, content string) {
	p.t.Helper()
	file := filepath.Join(p.top, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) link(to, name string) {
	p.t.Helper()
	if err := os.Symlink(filepath.Join(p.top, to), filepath.Join(p.top, name)); err != nil {
		p.t.Fatal(err)
	}
}

// options are those for an event in the place.
func (p *place) options(agent *agents.Agent, event string) Options {
	event = strings.ReplaceAll(event, "$TOP", p.top)
	if strings.Contains(event, "$HUGE") {
		event = strings.ReplaceAll(event, "$HUGE", strings.Repeat("x", maxInput))
	}
	return Options{
		Agent: agent, Input: strings.NewReader(event), Places: setup.Places{State: p.state, Config: p.settings, Admin: filepath.Join(p.top, "none")},
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + p.top}, Dir: p.project,
	}
}

// answer has an event answered.
func (p *place) answer(agent *agents.Agent, event string) agents.Reply {
	p.t.Helper()
	return Run(p.t.Context(), p.options(agent, event))
}

// shown is how a reply stands in a golden file. What the name begins with says how the
// hook is called.
func (p *place) shown(agent *agents.Agent, name, event string) string {
	p.t.Helper()
	o := p.options(agent, event)
	o.Observe, o.Defer = strings.HasPrefix(name, "observe"), strings.HasPrefix(name, "defer")
	if o.Defer {
		o.Environ = append(o.Environ, "CLAUDE_CODE_ENTRYPOINT=sdk-cli")
	}
	reply := Run(p.t.Context(), o)
	var b bytes.Buffer
	fmt.Fprintf(&b, "exit %d\n", reply.Exit)
	if len(reply.Stdout) > 0 {
		fmt.Fprintf(&b, "stdout %s", reply.Stdout)
	}
	if reply.Stderr != "" {
		fmt.Fprintf(&b, "stderr %s", reply.Stderr)
	}
	return strings.ReplaceAll(b.String(), p.top, "$TOP")
}
