package runner

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/assent-dev/assent/tool/shell"
)

const (
	// grace is how long a command has to end after SIGTERM.
	grace = 2 * time.Second
	// listen is how long output is waited for when bash has ended and somebody
	// still holds it open.
	listen = 500 * time.Millisecond
)

// Run runs the command and returns when it has ended and nothing of ours is left
// of it. An error means that it was not started; how it failed once it was is in the
// [Result].
//
// Every descriptor of this process but the first three is marked to be closed in
// programs that it starts.
func Run(ctx context.Context, c shell.Command, o Options) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("the command was not started: %w", err)
	}
	// The kernel ends the shell together with the thread that started it, so that thread
	// stays with us.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := start(ctx, c, o)
	if err != nil {
		return Result{}, err
	}
	began := time.Now()
	ending := p.wait(ctx)
	if ending != Exited {
		p.end()
	}
	background := p.drain(ctx, listen)
	if reason := p.sink.reason(); ending == Exited && reason != 0 {
		ending = reason // the shell was quicker than we
	}
	result := p.result(ending)
	result.Background = background
	result.Duration = time.Since(began)
	return result, nil
}

// wait returns when the command has ended, or has to be.
func (p *process) wait(ctx context.Context) Ending {
	defer p.clock.stop()
	select {
	case <-p.exited:
		return Exited
	case <-p.stays():
		return Exited
	case <-ctx.Done():
		return Cancelled
	case <-p.clock.out:
		return TimedOut
	case <-p.sink.stopped:
		return p.sink.reason()
	}
}
