package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(tidily{m}, map[string]func(){"assent": main})
}

// tidily removes the program that tests at a terminal have built.
type tidily struct{ *testing.M }

func (m tidily) Run() int {
	defer func() { os.RemoveAll(programDir) }()
	return m.M.Run()
}

// TestScripts runs the command as people type it. With ASSENT_UPDATE=1 it
// rewrites the expected output in the scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("ASSENT_UPDATE") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status},
		Setup:               leaveSoon,
	})
}

// leaveSoon keeps the race detector from holding every program a script runs for a
// second at its end; a tenth is enough to hear of a late race.
func leaveSoon(env *testscript.Env) error {
	env.Setenv("GORACE", "atexit_sleep_ms=100")
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
