package seatbelt

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// Program is where macOS keeps sandbox-exec. PATH is not asked.
const Program = "/usr/bin/sandbox-exec"

// Enforced is what a command is held to.
var Enforced = []string{
	"writes only in writable roots, and not in what is protected or masked there",
	"reads only in roots and the system's own programs, libraries and settings",
	"protected names cannot be made, renamed or reached through a renamed folder",
	"no network and no unix sockets unless the profile says so",
	"other processes cannot be signalled",
	"no environment and no open files but those that were handed over",
	"limits on output and time",
}

// NotEnforced is what a command is not held to.
var NotEnforced = []string{
	"no private /tmp or home folder: there is none",
	"memory and processor time, file size, open files and the number of processes",
	"processes that leave their group outlive the command",
	"a hard link that was in a writable root before is the file itself, wherever else it lies",
	"a new repository in a new folder below a writable root",
}

// A Runner starts commands in sandbox-exec.
type Runner struct{}

var _ sandbox.Runner = Runner{}

// Name is seatbelt.
func (Runner) Name() string { return "seatbelt" }

// Needs is empty: there is nothing in a profile that could not be written for it.
func (Runner) Needs(sandbox.Profile) []string { return nil }

// Start starts the command.
func (Runner) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("there is no command to run")
	}
	layout, err := launch.Survey(c.Profile)
	if err != nil {
		return nil, err
	}
	argv := Argv(Plan(layout, c.Profile.Network), c.Argv)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{}, c.Env...)
	return launch.StartGroup(ctx, cmd, c)
}

// Argv is the command line that runs a command under a profile.
func Argv(p Profile, command []string) []string {
	argv := []string{Program, "-p", p.Text}
	for _, param := range p.Params {
		argv = append(argv, "-D", param.Name+"="+param.Path)
	}
	return append(append(argv, "--"), command...)
}

// Diagnose puts into words why sandbox-exec did not start a command.
func Diagnose(said string, err error) *sandbox.Problem {
	switch {
	case errors.Is(err, exec.ErrNotFound) || strings.Contains(err.Error(), "no such file"):
		return &sandbox.Problem{Cause: Program + " is not there", Remedy: "use a version of macOS that has it"}
	case strings.Contains(said, "Operation not permitted"):
		return &sandbox.Problem{
			Detail: strings.TrimSpace(said),
			Cause:  "this program runs in a sandbox itself, and macOS does not nest them",
			Remedy: "start it outside: from a terminal, not from a sandboxed program",
		}
	case said == "":
		return nil
	}
	return &sandbox.Problem{Detail: strings.TrimSpace(said),
		Cause: fmt.Sprintf("the self-test did not finish: %v", err), Remedy: "look at what it said"}
}
