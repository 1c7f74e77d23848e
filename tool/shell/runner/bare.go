package runner

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
)

// bare is bash as a process of ours, in a session of its own.
type bare struct {
	cmd    *exec.Cmd
	marker string
}

// startBare starts a shell that nothing holds.
func startBare(c sandbox.Command, marker string) (body, error) {
	cmd := &exec.Cmd{
		Path: c.Argv[0], Args: c.Argv, Dir: c.Dir, Env: c.Env, SysProcAttr: attributes(),
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
	}
	if err := closeOthers(); err != nil {
		return nil, err
	}
	return &bare{cmd, marker}, cmd.Start()
}

func (b *bare) await() { _ = b.cmd.Wait() } // its outcome is in the state

// signal reaches the process group, and those that left it.
func (b *bare) signal(sig syscall.Signal) {
	_ = unix.Kill(-b.cmd.Process.Pid, sig) // no such group: all have ended
	signalStrays(b.cmd.Process.Pid, b.marker, sig)
}

// left names what still runs.
func (b *bare) left() string { return sandbox.LeftBehind(strays(b.cmd.Process.Pid, b.marker)) }

func (b *bare) end() end {
	status := b.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return end{code: 128 + int(status.Signal()), signal: unix.SignalName(status.Signal())}
	}
	return end{code: status.ExitStatus()}
}
