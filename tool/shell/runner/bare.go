package runner

import (
	"os"
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

// startBare starts a shell with the streams of the process.
func startBare(c Command, argv []string, marker string, gate *os.File, p *process) (body, error) {
	cmd := &exec.Cmd{
		Path: argv[0], Args: argv, Dir: c.Dir, Env: c.own(marker), SysProcAttr: attributes(),
		Stdout: p.stdout.theirs, Stderr: p.stderr.theirs,
	}
	if gate != nil {
		cmd.Stdin = gate
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
