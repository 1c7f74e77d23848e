package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/internal/selfexec"
)

func TestMain(m *testing.M) {
	selfexec.Main() // for tests in this process: the program is also its own helper
	mcptest.Main()  // for connectors that are this program
	testscript.Main(tidily{m}, map[string]func(){"assent": main, "agent": agentMain})
}

// tidily removes the program that tests at a terminal have built, and ends the browser that they share.
type tidily struct{ *testing.M }

func (m tidily) Run() int {
	defer func() { os.RemoveAll(programDir) }()
	defer func() { endBrowser() }()
	return m.M.Run()
}

// endBrowser ends the browser of the tests with one.
var endBrowser = func() {}

// TestScripts runs the command as people type it. With ASSENT_UPDATE=1 it
// rewrites the expected output in the scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("ASSENT_UPDATE") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status, "scrub": scrub, "undoid": undoID, "column": column, "await": await, "tamper": tamper, "event": hookEvent, "word": word},
		Setup:               prepare,
	})
}

// prepare gives each script a home of its own, which does not exist yet: what one leaves there
// is not another one's. It also keeps the race detector from holding every program that a script
// runs for a second at its end; a tenth is enough to hear of a late race.
func prepare(env *testscript.Env) error {
	env.Setenv("GORACE", "atexit_sleep_ms=100")
	top, err := os.MkdirTemp("", "assent-home-")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(top) })
	env.Setenv("HOME", filepath.Join(top, "home"))
	return nil
}

// status is the script command `status N PROGRAM ARGS...`: the program must end with
// exactly that exit status, which `! exec` cannot say.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("cannot run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

var undoWords = regexp.MustCompile(`(Undo id: |--state \S+ )[a-z2-7]{10}`)

// scrub is the script command `scrub FILE...`: what differs from run to run in the files
// becomes WORK and ID.
func scrub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: scrub FILE...")
	}
	for _, file := range args {
		text := strings.ReplaceAll(ts.ReadFile(file), ts.Getenv("WORK"), "WORK")
		text = undoWords.ReplaceAllString(text, "${1}ID")
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}

// undoID is the script command `undoid NAME TOOL PATH`: it sets NAME to the id in the list
// on the last standard output that undoes what the tool did to the path. For the shell it is
// the beginning of the command in place of a path.
func undoID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: undoid NAME TOOL PATH")
	}
	for l := range strings.Lines(ts.ReadFile("stdout")) {
		f := strings.Fields(l)
		if len(f) < 5 || f[3] != args[1] {
			continue
		}
		if rest := strings.Join(f[4:], " "); rest == args[2] || f[3] == "shell" && strings.HasPrefix(rest, args[2]) {
			ts.Setenv(args[0], f[0])
			return
		}
	}
	ts.Fatalf("nothing to undo for %s of %s", args[1], args[2])
}
