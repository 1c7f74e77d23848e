package assent_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/assent-dev/assent/internal/reexec"
)

// TestEmbedder builds a program in a module of its own, which may use what is public and nothing
// else, and runs it: a policy file, the prompt at a terminal, a tool of its own, the sandboxed
// shell, and a batch that is saved by one process and finished by another.
func TestEmbedder(t *testing.T) {
	e := newEmbedder(t)
	if got := e.run("profile"); !strings.Contains(got, "network false") {
		t.Errorf("profile: %q", got)
	}
	asked := e.atTerminal("ask", "y", "y")
	for _, want := range []string{"sandbox: bwrap", "shell: approved: ", "ran", "No such file", "buy: approved: bought milk"} {
		if !strings.Contains(asked, want) {
			t.Errorf("at a terminal: no %q in\n%s", want, asked)
		}
	}
	if made, err := os.ReadFile(filepath.Join(e.dir, "notes", "a.txt")); string(made) != "made\n" {
		t.Errorf("the command's file: %q, %v", made, err)
	}
	if _, err := os.Stat(filepath.Join(e.dir, "planted")); err == nil {
		t.Error("a program beside it was started")
	}
	if got := e.run("defer"); got != "waiting: 2\n" {
		t.Errorf("defer: %q", got)
	}
	resumed := e.run("resume")
	for _, want := range []string{"shell: approved: ", "buy: approved: bought milk", "recorded: 2"} {
		if !strings.Contains(resumed, want) {
			t.Errorf("resumed: no %q in\n%s", want, resumed)
		}
	}
}

// An embedder is a built program and the folder that it works in.
type embedder struct {
	t       *testing.T
	dir     string
	program string
	env     []string
}

func newEmbedder(t *testing.T) *embedder {
	dir := t.TempDir()
	here, err := os.Getwd()
	must(t, err)
	e := &embedder{t: t, dir: dir, program: filepath.Join(dir, "embedder"), env: append(os.Environ(), "HOME="+t.TempDir(), "TERM=dumb")}
	must(t, reexec.BuildOutside(t.TempDir(), here, "testdata/embedder/main.go.txt", e.program))
	file, err := os.ReadFile("testdata/embedder/policy.yaml")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "policy.yaml"), file, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("hidden\n"), 0o600))
	// The program is its own helper: what lies beside it under a name of assent's is not started.
	for _, name := range []string{"assent", "assent-hook", "assent-shell"} {
		script := "#!/bin/sh\ntouch " + filepath.Join(dir, "planted") + "\n"
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700))
	}
	return e
}

func (e *embedder) command(what string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	e.t.Cleanup(cancel)
	c := exec.CommandContext(ctx, e.program, what)
	c.Dir, c.Env = e.dir, e.env
	return c
}

func (e *embedder) run(what string) string {
	e.t.Helper()
	out, err := e.command(what).Output()
	if err != nil {
		e.t.Fatalf("%s: %v\n%s", what, err, out)
	}
	return string(out)
}

// atTerminal runs the program at a terminal, where a person types an answer to each prompt.
func (e *embedder) atTerminal(what string, answers ...string) string {
	e.t.Helper()
	c := e.command(what)
	terminal, err := pty.Start(c)
	must(e.t, err)
	defer terminal.Close()
	var all strings.Builder
	buffer, typed := make([]byte, 4096), 0
	for {
		n, err := terminal.Read(buffer)
		all.Write(buffer[:n])
		if strings.Count(all.String(), "answer> ") > typed && typed < len(answers) { // what is typed before is forgotten
			fmt.Fprintln(terminal, answers[typed])
			typed++
		}
		if err != nil {
			break
		}
	}
	if err := c.Wait(); err != nil {
		e.t.Fatalf("%s: %v\n%s", what, err, all.String())
	}
	return all.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
