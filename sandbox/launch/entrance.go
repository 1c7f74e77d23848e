package launch

import (
	"os"
	"os/exec"
	"syscall"
)

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
