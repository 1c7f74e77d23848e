package runner

import (
	"context"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
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
func (b *bare) left() string { return launch.LeftBehind(strays(b.cmd.Process.Pid, b.marker)) }

func (b *bare) end() end {
	status := b.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return end{code: 128 + int(status.Signal()), signal: unix.SignalName(status.Signal())}
	}
	return end{code: status.ExitStatus()}
}

// confined is bash in a sandbox. What it starts ends with it.
type confined struct {
	process sandbox.Process
	cancel  context.CancelFunc
	exit    sandbox.Exit // when it has ended
	err     error        // likewise
}

// startConfined starts a shell in its sandbox. The context counts only while it starts: how a
// command is ended is decided elsewhere.
func startConfined(ctx context.Context, r sandbox.Runner, c sandbox.Command) (body, error) {
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	started, err := r.Start(live, c)
	stop()
	if err != nil {
		cancel()
		return nil, err
	}
	return &confined{process: started, cancel: cancel}, nil
}

func (b *confined) await() {
	b.exit, b.err = b.process.Wait()
	b.cancel()
}

// signal ends everything inside, whatever the signal.
func (b *confined) signal(syscall.Signal) { b.cancel() }

// left names what was ended with bash.
func (b *confined) left() string { return b.exit.Left }

func (b *confined) end() end {
	return end{code: b.exit.Code, tooLarge: b.exit.Ended == sandbox.EndingSize, err: b.err}
}
