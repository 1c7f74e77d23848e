package bwrap

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// A process is a command in its sandbox. Bubblewrap itself is outside and waits for it.
type process struct {
	cmd    *exec.Cmd
	setup  *setup
	status *os.File // open until the end: bubblewrap writes to it once more

	over chan struct{} // closed when everything is gone
	exit sandbox.Exit  // set before over is closed
	err  error         // likewise

	mu      sync.Mutex
	gate    *os.File // where the prelude waits; nil when that is over
	pid1    int      // a descriptor of the first process inside; its end is everybody's end
	ended   sandbox.Ending
	lookout *lookout // who sees what is left in the background; nil before the command runs
}

// none is no descriptor.
const none = -1

// drain is how long the streams are waited for after everything has ended: only a reader
// or writer of the caller that hangs can still hold them.
const drain = 2 * time.Second

// openGate hears from the prelude that it is there, learns which process is the first one
// inside, sees that the sandbox stands, and lets the command run. Bubblewrap tells of that
// process early and bit by bit; it is only read when it is needed, all at once.
func (p *process) openGate(ctx context.Context, gate *os.File) error {
	command := hear(gate)
	pid, err := childPID(p.status)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return ErrNotSetUp // it is gone already
	}
	p.mu.Lock()
	p.pid1 = fd
	if p.ended != "" {
		p.kill()
	}
	p.mu.Unlock()
	if command == 0 {
		return ErrNotSetUp
	}
	if err := p.setup.verify(pid); err != nil {
		return err
	}
	if err := p.lookOut(command, pid); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // who watches it may not have had a turn yet
	}
	_, err = gate.Write([]byte("\n"))
	return err
}

// watch ends the command when its caller or its time does.
func (p *process) watch(ctx context.Context, limit time.Duration) {
	stop := context.AfterFunc(ctx, func() { p.end(sandbox.EndingCancelled) })
	if limit > 0 {
		timer := time.AfterFunc(limit, func() { p.end(sandbox.EndingTime) })
		go func() { <-p.over; timer.Stop() }()
	}
	go func() { <-p.over; stop() }()
}

// end ends the command and everything that it started, at once: the kernel ends a process
// namespace with its first process. The first reason is kept.
func (p *process) end(why sandbox.Ending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == "" {
		p.ended = why
	}
	p.kill()
}

// kill wants the lock to be held. Before the first process inside is known the gate is
// shut: openGate then finds out which it is, and kills it. Bubblewrap itself, killed in
// the middle of its work, would leave that process behind.
func (p *process) kill() {
	if p.pid1 != none {
		_ = unix.PidfdSendSignal(p.pid1, unix.SIGKILL, nil, 0) // it may have ended by itself
	} else if p.gate != nil {
		_ = unix.Shutdown(int(p.gate.Fd()), unix.SHUT_RDWR) // it may have been before
	}
}

// wait waits for bubblewrap, then for all that the command left running, and cleans up.
func (p *process) wait() {
	err := p.cmd.Wait()
	p.status.Close()
	p.finish()
	p.mu.Lock()
	ended, lookout := p.ended, p.lookout
	p.mu.Unlock()
	p.exit, p.err = launch.Result(p.cmd, err, ended)
	if lookout != nil {
		p.exit.Left = lookout.wait(p.exit)
	}
	p.err = errors.Join(p.err, p.setup.letGo())
	close(p.over)
}

// finish ends the first process inside, if there is one, and waits until it is gone.
func (p *process) finish() {
	p.mu.Lock()
	p.kill()
	pid1 := p.pid1
	p.mu.Unlock()
	if pid1 == none {
		return
	}
	awaitEnd(pid1)
	p.mu.Lock()
	defer p.mu.Unlock()
	unix.Close(pid1)
	p.pid1 = none
}

// closeGate closes the gate. A prelude that still comes to it finds nobody there.
func (p *process) closeGate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate.Close()
	p.gate = nil
}

// reason is why the command was ended from outside, if it was.
func (p *process) reason() sandbox.Ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// awaitEnd waits until one of some processes has ended.
func awaitEnd(fds ...int) { endWithin(-1, fds...) }

// endWithin reports whether one of some processes ends within a time; one below zero is
// without end. The descriptor of a process that has ended can be read.
func endWithin(limit time.Duration, fds ...int) bool {
	var polled []unix.PollFd
	for _, fd := range fds {
		polled = append(polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	for began := time.Now(); ; {
		left := -1
		if limit >= 0 {
			left = int(max(limit-time.Since(began), 0).Milliseconds())
		}
		n, err := unix.Poll(polled, left)
		if !errors.Is(err, syscall.EINTR) {
			return n > 0
		}
	}
}

// Wait waits until the command and all that it started are gone.
func (p *process) Wait() (sandbox.Exit, error) {
	<-p.over
	return p.exit, p.err
}
