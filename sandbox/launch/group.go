package launch

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/assent-dev/assent/sandbox"
)

// drain is how long the streams are waited for after a command has ended: what it left
// running in the background, outside of its group, may hold them.
const drain = 2 * time.Second

// A group is a command whose processes are known only by their process group: what leaves
// the group outlives it. Runners without a process namespace have nothing better.
type group struct {
	cmd  *exec.Cmd
	over chan struct{} // closed when it has ended
	exit sandbox.Exit  // set before over is closed
	err  error         // likewise

	mu    sync.Mutex
	gone  bool // its number may be somebody else's by now
	ended sandbox.Ending
}

// StartGroup starts a command as a process group that ends with its context and limits.
// The command's line is cmd's; its streams and limits are c's.
func StartGroup(ctx context.Context, cmd *exec.Cmd, c sandbox.Command) (sandbox.Process, error) {
	g := &group{cmd: cmd, over: make(chan struct{})}
	cmd.WaitDelay = drain
	Connect(cmd, c, c.Profile.Limits.Output, func() { g.end(sandbox.EndingOutput) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := Start(cmd); err != nil {
		return nil, fmt.Errorf("starting the command: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { g.end(sandbox.EndingCancelled) })
	var timer *time.Timer
	if limit := c.Profile.Limits.Time; limit > 0 {
		timer = time.AfterFunc(limit, func() { g.end(sandbox.EndingTime) })
	}
	go func() {
		g.wait()
		stop()
		if timer != nil {
			timer.Stop()
		}
		close(g.over)
	}()
	return g, nil
}

// end ends the group. The first reason is kept.
func (g *group) end(why sandbox.Ending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended == "" && !g.gone {
		g.ended = why
	}
	g.kill()
}

// kill wants the lock to be held.
func (g *group) kill() {
	if !g.gone {
		_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
	}
}

// wait waits for the command itself and ends the rest of its group before its number can
// be somebody else's.
func (g *group) wait() {
	awaitExit(g.cmd.Process.Pid)
	left := members(g.cmd.Process.Pid)
	g.mu.Lock()
	g.kill()
	g.mu.Unlock()
	err := g.cmd.Wait()
	g.mu.Lock()
	g.gone = true
	ended := g.ended
	g.mu.Unlock()
	g.exit, g.err = Result(g.cmd, err, ended)
	if ended == "" {
		g.exit.Left = sandbox.LeftBehind(left)
	}
}

// Result is how a command ended, given how waiting for its process did.
func Result(cmd *exec.Cmd, err error, ended sandbox.Ending) (sandbox.Exit, error) {
	if cmd.ProcessState == nil {
		return sandbox.Exit{}, err
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	exit := sandbox.ExitOf(code)
	if ended != "" {
		exit.Ended = ended
		return exit, nil
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) && !errors.Is(err, exec.ErrWaitDelay) {
		return exit, fmt.Errorf("a stream of the command failed: %w", err)
	}
	return exit, nil
}

// Wait waits until the command has ended.
func (g *group) Wait() (sandbox.Exit, error) {
	<-g.over
	return g.exit, g.err
}
