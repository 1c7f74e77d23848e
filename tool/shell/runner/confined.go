package runner

import (
	"context"
	"syscall"

	"github.com/assent-dev/assent/sandbox"
)

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
