package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

//go:embed data
var data embed.FS

// A project is a folder with a repository, and the policies that judge commands in it.
type project struct {
	dir, home string
	by        map[string]*explain.Explainer // policy by name
}

func newProject(top string) (*project, error) {
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		return nil, err
	}
	p := &project{dir: filepath.Join(top, "proj"), home: filepath.Join(top, "home"), by: map[string]*explain.Explainer{}}
	for name, content := range map[string]string{
		"proj/.env": "KEY=1\n", "proj/.env.example": "KEY=\n", "proj/src/a.go": "package a\n", "proj/src/b.go": "package a\n",
		"proj/README.md": "# readme\n", "proj/Makefile": "test:\n", "proj/package.json": "{}\n", "proj/docs/guide.md": "# guide\n",
		"proj/build/out.o": "", "home/.ssh/id_rsa": "secret\n",
	} {
		if err := write(filepath.Join(top, name), content); err != nil {
			return nil, err
		}
	}
	git := exec.Command("git", "init", "-q")
	git.Dir = p.dir
	if out, err := git.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w\n%s", err, out)
	}
	for _, name := range []string{"readonly", "named", "prefix", "effect"} {
		if p.by[name], err = p.explainer(name, filepath.Join(top, "state")); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func write(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(content), 0o600)
}

// explainer puts a policy in front of the project.
func (p *project) explainer(name, state string) (*explain.Explainer, error) {
	text, err := data.ReadFile("data/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	conf, err := config.Load(name+".yaml", []byte(p.here(string(text))), p.dir)
	if err != nil {
		return nil, err
	}
	e := &explain.Explainer{Policy: policy.Policy{Fixed: conf.Rules}, Clock: time.Now}
	box, err := toolbox.Open(conf, toolbox.Options{
		State: state, Looking: true, Denied: e.Denied,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "LANG=C.UTF-8", "TERM=dumb"},
	})
	if err != nil {
		return nil, err
	}
	e.Tools, err = tool.NewSet(box.Tools...)
	return e, err
}

// here puts the project's own folders into a text.
func (p *project) here(text string) string {
	return strings.NewReplacer("@PROJ@", p.dir, "@HOME@", p.home).Replace(text)
}
