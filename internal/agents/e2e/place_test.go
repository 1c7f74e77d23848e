//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long an agent may take for a few turns.
const patience = 5 * time.Minute

// rules deny one command and allow another.
const rules = `rules:
  - deny shell(touch denied.txt)
  - allow shell(touch allowed.txt)
`

// A place is a user's machine: a home, a project, assent and the agents.
type place struct {
	t             *testing.T
	home, project string
	bin, agents   string
	env           []string
	within        []string // a command that runs the agents, with them as its arguments
}

func newPlace(t *testing.T) *place {
	t.Helper()
	// Not below /tmp, which is private in a sandbox.
	top, err := os.MkdirTemp("/var/tmp", "assent-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(top); err != nil {
			t.Error(err)
		}
	})
	p := &place{
		t: t, home: filepath.Join(top, "home"), project: filepath.Join(top, "project"),
		bin: os.Getenv("ASSENT_E2E_BIN"), agents: os.Getenv("ASSENT_E2E_AGENTS"),
	}
	if p.bin == "" || p.agents == "" {
		t.Fatal("nothing says where assent and the agents are; run these tests with 'make e2e'")
	}
	if err := os.Mkdir(p.project, 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(".config/assent/config.yaml", rules)
	p.env = []string{
		"HOME=" + p.home, "PATH=" + p.bin + ":" + os.Getenv("PATH"),
		// Whatever is not on loopback fails at once.
		"HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1,localhost",
	}
	return p
}

// write writes a file in the home folder.
func (p *place) write(name, content string) {
	p.t.Helper()
	file := filepath.Join(p.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

// command is one in the project.
func (p *place) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env, c.WaitDelay = p.project, p.env, 10*time.Second
	return c
}

// run runs a program in the project and returns what it printed. It must succeed.
func (p *place) run(program string, args ...string) string {
	p.t.Helper()
	out, err := p.try(program, args...)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// try runs a program that may fail.
func (p *place) try(program string, args ...string) (string, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	line := slices.Concat(p.within, []string{program}, args)
	c := p.command(ctx, line[0], line[1:]...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s\n%s", filepath.Base(program), err, out, said.String())
	}
	return string(out), err
}

func (p *place) assent(args ...string) string {
	p.t.Helper()
	return p.run(filepath.Join(p.bin, "assent"), args...)
}

// agent runs an agent from npm.
func (p *place) agent(name string, args ...string) string {
	p.t.Helper()
	return p.run(p.program(name), args...)
}

// program is the path of an agent's.
func (p *place) program(name string) string {
	return filepath.Join(p.agents, "node_modules", ".bin", name)
}

// wantFiles wants the commands that made these files to have run, and no other.
func (p *place) wantFiles(want ...string) {
	p.t.Helper()
	var got []string
	for _, name := range []string{"allowed.txt", "denied.txt", "asked.txt"} {
		if _, err := os.Stat(filepath.Join(p.project, name)); err == nil {
			got = append(got, name)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		p.t.Errorf("there is %q, want %q", got, want)
	}
}

// wantAudit wants each of the lines, in parts, in the audit log.
func (p *place) wantAudit(lines ...[2]string) {
	p.t.Helper()
	log := p.assent("audit", "list")
	for _, want := range lines {
		found := false
		for line := range strings.Lines(log) {
			found = found || strings.Contains(line, want[0]) && strings.Contains(line, want[1])
		}
		if !found {
			p.t.Errorf("the audit log has no %s of %s:\n%s", want[0], want[1], log)
		}
	}
}

// startPiped starts a program with pipes for its input and output.
func (p *place) startPiped(c *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	p.t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if out, err = c.StdoutPipe(); err != nil {
		p.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	return in, out
}
