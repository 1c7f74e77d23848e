package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"github.com/assent-dev/assent/sandbox"
)

// spawner is the thread that starts processes. The kernel ends a child when the thread
// that started it ends, so that thread must live as long as the program.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread() // forever
		for f := range work {
			f()
		}
	}()
	return work
})

// Start starts a process in a session of its own, without a terminal. The kernel ends it
// when this program ends, however it ends, where the system can do that (Linux).
func Start(cmd *exec.Cmd) error {
	endWithParent(cmd)
	return onSpawner(cmd)
}

// StartSession starts a process in a session of its own, like [Start]. Whether it ends
// with this program is its own business.
func StartSession(cmd *exec.Cmd) error {
	ownSession(cmd)
	return onSpawner(cmd)
}

func onSpawner(cmd *exec.Cmd) error {
	done := make(chan error)
	spawner() <- func() {
		keepFiles()
		done <- cmd.Start()
	}
	return <-done
}

// An Entrance is how a sandbox's own program is started through another one, which makes
// something ready for it and then becomes that program. The zero Entrance starts it directly.
type Entrance struct {
	// Before returns the command line that is put before the program's own. The first of
	// Files has the descriptor fd there, the others follow.
	Before func(fd int) []string
	// Files are handed over behind the descriptors that the sandbox's program has itself, so
	// that those keep their numbers.
	Files []*os.File
	// Prepare sets how the process is made: its namespaces, ids and capabilities. May be nil.
	Prepare func(*syscall.SysProcAttr)
	// Started is told the process that was started. May be nil.
	Started func(pid int)
}

// Through reports whether the program is started through another one.
func (e Entrance) Through() bool { return e.Before != nil }

// Start starts the program of cmd through the entrance, in a session of its own, like
// [StartSession].
func (e Entrance) Start(cmd *exec.Cmd) error {
	if e.Through() {
		before := e.Before(3 + len(cmd.ExtraFiles))
		cmd.Args = append(append(append([]string{}, before...), cmd.Path), cmd.Args[1:]...)
		cmd.Path = before[0]
		cmd.ExtraFiles = append(cmd.ExtraFiles[:len(cmd.ExtraFiles):len(cmd.ExtraFiles)], e.Files...)
	}
	ownSession(cmd)
	if e.Prepare != nil {
		e.Prepare(cmd.SysProcAttr)
	}
	if err := onSpawner(cmd); err != nil {
		return err
	}
	if e.Started != nil {
		e.Started(cmd.Process.Pid)
	}
	return nil
}

// None runs commands without a sandbox, for those who say so: with the environment, the
// time and output limits of a profile, and everything else that the user can do.
type None struct{}

var _ sandbox.Runner = None{}

// Name is none.
func (None) Name() string { return "none" }

// Needs is empty: who asks for no sandbox needs none of it.
func (None) Needs(sandbox.Profile) []string { return nil }

// Start starts the command.
func (None) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("there is no command to run")
	}
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{}, c.Env...)
	return StartGroup(ctx, cmd, c)
}

// PartVariable is set in the environment of the processes that do a part of this program's
// work inside or beside a sandbox. One that starts a sandbox of its own instead is not the
// program that it was taken for.
const PartVariable = "ASSENT_SANDBOX_PART"

// NotAPart refuses to start a sandbox in a process that was started to do a part of the
// work of one. A program that hands itself over for that, and does not know the words that
// it is then started with, would otherwise start itself without end.
func NotAPart() error {
	word, is := os.LookupEnv(PartVariable)
	if !is {
		return nil
	}
	return fmt.Errorf("this process was started for a part of a sandbox's work (%q) and starts a sandbox itself: "+
		"%s does not do that work; name a program that does, such as assent", word, os.Args[0])
}
