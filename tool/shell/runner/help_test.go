package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/assent-dev/assent/tool/shell/wire"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func folder(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// A prepared is a command and what it runs with.
type prepared struct {
	shell.Command
	runner.Options
}

// command returns a command as the tool would make it.
func command(t testing.TB, text string) prepared {
	t.Helper()
	c := interpreted(text)
	c.Dir, c.Env, c.Call = folder(t), runner.NewEnvironment(os.Environ(), nil), "c1"
	return c
}

// interpreted is a command whose acts are all allowed.
func interpreted(text string) prepared {
	judge := func(context.Context, wire.Act, func() func()) wire.Answer { return wire.Answer{Verdict: wire.Go} }
	return prepared{shell.Command{Text: text, Judge: judge}, runner.Options{Shell: reexec.Argv("shell")}}
}

// run runs a command that can be started.
func run(t testing.TB, c prepared) runner.Result {
	t.Helper()
	result, err := runner.Run(context.Background(), c.Command, c.Options)
	must(t, err)
	return result
}

// lines runs a text that succeeds and returns what it prints.
func lines(t testing.TB, text string) []string {
	t.Helper()
	r := run(t, command(t, text))
	if r.Ending != runner.Exited || r.ExitCode != 0 || r.Stderr.Text != "" {
		t.Fatalf("%s: %+v", text, r)
	}
	return strings.Split(strings.TrimSuffix(r.Stdout.Text, "\n"), "\n")
}
