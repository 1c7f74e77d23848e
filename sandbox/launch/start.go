package launch

import (
	"os/exec"
	"runtime"
	"sync"
)

// spawner is the thread that starts processes. The kernel ends a child when the thread
// that started it ends, so that thread must live as long as the program.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread() // for ever
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
