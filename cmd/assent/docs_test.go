package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/check"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/server"
)

// yamlOf returns the YAML of a document, block by block.
func yamlOf(t *testing.T, name string) (blocks []string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// The examples of the documents can be read as what they are, and what they expect is so.
func TestTheYAMLOfTheDocuments(t *testing.T) {
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	_, _, setting, err := setup.Checked(setup.Places{Config: home, State: home})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "../../README.md") {
		for i, text := range yamlOf(t, name) {
			if strings.HasPrefix(text, "turns:") {
				if _, err := model.ParseScript(name, []byte(text)); err != nil {
					t.Errorf("%s, example %d: %v", name, i+1, err)
				}
				continue
			}
			if strings.HasPrefix(text, "tenant:") { // the file of a server; the key in it is shortened
				if _, err := server.ParseConfig(name, []byte(text)); err != nil && !strings.Contains(err.Error(), "trust: write the public half") {
					t.Errorf("%s, example %d: %v", name, i+1, err)
				}
				continue
			}
			if strings.Contains(text, "deciders:") { // the source of a bundle
				if _, err := bundle.Parse(name, []byte(text)); err != nil {
					t.Errorf("%s, example %d: %v", name, i+1, err)
				}
				continue
			}
			path := filepath.Join(t.TempDir(), "example.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			kind, wrong := config.PolicyFile, error(nil)
			for _, kind = range []config.Kind{config.PolicyFile, config.WorkerFile, config.UserFile} {
				if _, wrong = config.Read(path, kind); wrong == nil {
					break
				}
			}
			if wrong != nil {
				t.Errorf("%s, example %d: %v\n%s", name, i+1, wrong, text)
				continue
			}
			findings, err := check.File(t.Context(), path, kind, nil, setting)
			if err != nil {
				t.Errorf("%s, example %d: %v", name, i+1, err)
			}
			for _, f := range findings {
				if strings.Contains(text, "expect:") {
					t.Errorf("%s, example %d: %s", name, i+1, f)
				}
			}
		}
	}
}

// The scripted model of the documents does what they say.
func TestTheScriptOfTheDocuments(t *testing.T) {
	t.Parallel()
	p := &project{story: &story{t: t, dir: t.TempDir()}, home: t.TempDir()}
	p.put("look.yaml", yamlOf(t, "../../docs/script-models.md")[0])
	p.put("my.worker", "---\nsandbox: {paths: {notes: {mode: rw}}}\n---\n")
	p.put("notes/today.md", "# The garden\n\n- water it\n")
	p.trust()
	c := p.assent("run", "--approve-all", "--model", "script:look.yaml", "my.worker", "What is today about?")
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "It is about The garden.\n") {
		t.Errorf("%v\n%s", err, out)
	}
	p.has("notes/title.txt", "The garden\n")
}
