package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Command is what is started: a program, its arguments and streams, and the profile that holds
// it. Whether it may be started was decided before, by whoever made it: what was judged about a
// shell command, for example, is a shell.Command.
type Command struct {
	// Argv is the program and its arguments. The program is looked for in PATH inside
	// the sandbox, unless it has a slash.
	Argv []string
	// Dir is the working directory, an absolute path of the host.
	Dir string
	// Env is the environment, as NAME=VALUE: nothing else is passed on. Most callers
	// want [Env.Values] of the profile.
	Env []string
	// Enters says that the program calls prelude.Enter with its arguments, so that no
	// shell has to do it before.
	Enters bool
	// Stdin, Stdout and Stderr are the streams; nil is the null device. A file is handed
	// over as it is, unless the output is limited; nothing else is inherited.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Tmp is a folder of the host that is /tmp inside, for commands that share one; empty gives
	// the command its own. Only bubblewrap knows it.
	Tmp string

	Profile Profile
}

// A Runner starts commands under a profile. It is safe for concurrent use.
type Runner interface {
	// Name is what people are told: bwrap, landlock, seatbelt or none.
	Name() string
	// Needs returns what of the profile this runner cannot hold, in words; empty if it
	// can hold all of it. Start refuses what has needs.
	Needs(Profile) []string
	// Start starts the command. The process and everything that it starts end when ctx
	// does, when a limit is passed, and when the calling program ends, however it ends.
	Start(ctx context.Context, c Command) (Process, error)
}

// A Process is a command that was started.
type Process interface {
	// Wait waits until the command and all that it started are gone. An error means that
	// the command may never have run, or that its end was not seen.
	Wait() (Exit, error)
}

// An Exit is how a command ended.
type Exit struct {
	// Code is its exit status; 128 and the signal's number if a signal ended it.
	Code int
	// Ended says why the command was ended from outside; empty if it ended by itself.
	Ended Ending
	// Left are the processes that it left running when it ended by itself, in the words
	// that a person is shown. They were ended. It is empty if there were none, or a runner
	// cannot know them.
	Left string
}

// An Ending is a reason to end a command.
type Ending string

// The endings.
const (
	EndingCancelled Ending = "cancelled"
	EndingTime      Ending = "ran longer than its time limit"
	EndingOutput    Ending = "printed more than its output limit"
	EndingSize      Ending = "wrote a file larger than the size limit"
)

// ErrNotHeld is in the error of a Start that was refused because the runner cannot hold
// the profile.
var ErrNotHeld = errors.New("the sandbox cannot hold this profile")

// Run starts the command and waits for its end.
func Run(ctx context.Context, r Runner, c Command) (Exit, error) {
	p, err := r.Start(ctx, c)
	if err != nil {
		return Exit{}, err
	}
	return p.Wait()
}

// A Report is what is known about a runner on this machine.
type Report struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	// Weaker says that it holds less than the others, even when it works.
	Weaker bool `json:"weaker,omitempty"`
	// Enforced and NotEnforced are what it holds a process to, and what not, in words.
	Enforced    []string `json:"enforced,omitempty"`
	NotEnforced []string `json:"not_enforced,omitempty"`
	// Problem says why it cannot be used; nil if it can.
	Problem *Problem `json:"problem,omitempty"`
}

// Usable reports whether the runner can be used.
func (r Report) Usable() bool { return r.Problem == nil }

// A Problem is why a runner cannot be used.
type Problem struct {
	Detail string `json:"detail,omitempty"` // what the system said
	Cause  string `json:"cause"`
	Remedy string `json:"remedy"`
}

// UnusableError says that no runner can be used, and why each of them cannot.
type UnusableError struct {
	Reports []Report
}

func (e *UnusableError) Error() string {
	var b strings.Builder
	b.WriteString("no usable OS sandbox was found")
	for _, r := range e.Reports {
		if r.Problem == nil {
			continue
		}
		fmt.Fprintf(&b, "\n  %s: %s", r.Name, r.Problem.Cause)
		if r.Problem.Detail != "" {
			fmt.Fprintf(&b, " (%s)", r.Problem.Detail)
		}
		fmt.Fprintf(&b, "\n    remedy: %s", r.Problem.Remedy)
	}
	return b.String()
}
