package toolbox

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/host"
	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/assent-dev/assent/tool/shell/runner/shim"
)

// A machine is where commands run.
type machine struct {
	env     runner.Environment
	entries []string
	folder  string // for the shim and for output that is kept
}

func newMachine(environ, names []string, folder string) *machine {
	env := runner.NewEnvironment(environ, names)
	return &machine{env: env, entries: env.Entries(), folder: folder}
}

// world is what a command in the folder finds.
func (m *machine) world(dir string) analysis.World { return host.New(dir, m.entries) }

// run runs a command that was approved.
func (m *machine) run(ctx context.Context, c shell.Command) (shell.Result, error) {
	cmd := runner.Command{
		Text: c.Text, Dir: c.Dir, Env: m.env, Timeout: c.Timeout, Call: rand.Text(), Progress: tool.Progress(ctx),
	}
	if c.HardenGit {
		dir, err := m.shim(c.Dir)
		if err != nil {
			return shell.Result{}, fmt.Errorf("git cannot be run without what the repository would make it run: %w", err)
		}
		cmd.Env = m.env.First(dir)
	}
	if c.Keep {
		folder := filepath.Join(m.folder, "output")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return shell.Result{}, fmt.Errorf("the output cannot be kept: %w", err)
		}
		cmd.File = filepath.Join(folder, cmd.Call+".txt")
	}
	r, err := runner.Run(ctx, cmd)
	if err != nil {
		return shell.Result{}, err
	}
	return result(r), nil
}

// shim returns the folder with the git that runs nothing else.
func (m *machine) shim(dir string) (string, error) {
	bash, err := runner.Bash()
	if err != nil {
		return "", err
	}
	git := m.world(dir).Program("git")
	if git == "" {
		return "", fmt.Errorf("git is not on the PATH")
	}
	return shim.Install(filepath.Join(m.folder, "shim"), bash, git)
}

func result(r runner.Result) shell.Result {
	return shell.Result{
		Stdout: r.Stdout.Text, StdoutTruncated: r.Stdout.Truncated,
		Stderr: r.Stderr.Text, StderrTruncated: r.Stderr.Truncated,
		ExitCode: r.ExitCode, TimedOut: r.Ending == runner.TimedOut, Output: r.File, Note: note(r),
	}
}

// note says what the exit code does not.
func note(r runner.Result) string {
	if r.Ending != runner.Exited || r.ExitCode > 125 {
		return r.Problem()
	}
	if r.Background {
		return "a process that it started still runs; what it prints is not seen"
	}
	return ""
}
