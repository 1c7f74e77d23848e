package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// project is a folder with workers that the person trusts, unless a test says otherwise.
type project struct {
	*story
	home string
}

// newProject makes the folder from files by name; those that end in .worker are trusted.
func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	t.Parallel()
	p := &project{story: &story{t: t, dir: t.TempDir()}, home: t.TempDir()}
	for name, text := range files {
		p.put(name, text)
	}
	p.trust()
	return p
}

// example makes the folder from one of the examples.
func example(t *testing.T, name string) *project {
	t.Helper()
	t.Parallel()
	p := &project{story: &story{t: t, dir: t.TempDir()}, home: t.TempDir()}
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("..", "..", "examples", name))); err != nil {
		t.Fatal(err)
	}
	p.trust()
	return p
}

func (p *project) put(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.story.put(name, text)
}

// trust trusts all workers as they are.
func (p *project) trust() {
	p.t.Helper()
	for _, pattern := range []string{"*.worker", "workers/*.worker"} {
		found, err := filepath.Glob(filepath.Join(p.dir, pattern))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, file := range found {
			if out, err := p.assent("trust", "--yes", file).CombinedOutput(); err != nil {
				p.t.Fatalf("%v\n%s", err, out)
			}
		}
	}
}

// assent returns the command in the project's folder, with one state for all of them.
func (p *project) assent(args ...string) *exec.Cmd {
	p.t.Helper()
	c := assent(p.t, []string{"HOME=" + p.home, "XDG_STATE_HOME=" + p.home + "/state", "XDG_CONFIG_HOME=" + p.home + "/config"}, args...)
	c.Dir = p.dir
	return c
}

// at runs the command at a terminal.
func (p *project) at(args ...string) *tty {
	p.t.Helper()
	return start(p.t, 100, 40, p.assent(args...))
}

// word is the script command `word NAME stdout|stderr PATTERN`: it sets NAME to what the
// first group of the pattern finds in the last output.
func word(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: word NAME stdout|stderr PATTERN")
	}
	found := regexp.MustCompile("(?m)" + args[2]).FindStringSubmatch(ts.ReadFile(args[1]))
	if len(found) < 2 {
		ts.Fatalf("%s has nothing like %s", args[1], args[2])
	}
	ts.Setenv(args[0], found[1])
}
