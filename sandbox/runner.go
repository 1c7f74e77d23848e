package sandbox

import (
	"context"
	"errors"
	"io"
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
