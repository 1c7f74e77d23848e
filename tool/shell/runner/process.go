package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// A process is a command that was started.
type process struct {
	body   body
	exited chan struct{} // closed when the shell has ended and was waited for

	confined       bool  // by a sandbox
	gate           *gate // nil if bash itself runs
	clock          *stopwatch
	sink           *sink
	stdout, stderr *stream
	joined         bool // both go to one writer
}

// A body is the shell that runs: on its own, or in a sandbox.
type body interface {
	// await returns when it has ended. It is called once.
	await()
	// signal reaches everything that it started, as far as that can be.
	signal(syscall.Signal)
	// end says how it ended, when await has returned.
	end() end
	// left says what a shell that ended by itself left in the background.
	left() string
}

// An end is how the shell ended.
type end struct {
	code     int
	signal   string // the name of the one that ended it; empty for none
	tooLarge bool   // it wrote a file beyond the size limit
	err      error  // its end was not seen
}

// start starts the command, or leaves nothing behind.
func start(ctx context.Context, c shell.Command, o Options) (*process, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	marker := newMarker(o.Call)
	started, err := o.started(c, marker)
	if err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	p := &process{exited: make(chan struct{}), confined: o.Sandbox != nil, clock: newStopwatch(c.Timeout)}
	if o.Clock != nil {
		o.Clock.watch.Store(p.clock)
	}
	if p.sink, err = newSink(o); err != nil {
		return nil, err
	}
	if err := p.launch(ctx, c, o, started, marker); err != nil {
		p.sink.discard()
		return nil, fmt.Errorf("cannot start %s in %s: %w", started.Argv[0], c.Dir, err)
	}
	return p, nil
}

// check refuses what can be told before anything is made.
func check(c shell.Command) error {
	switch info, err := os.Stat(c.Dir); {
	case c.Text == "":
		return errors.New("there is no command to run")
	case strings.ContainsRune(c.Text, 0):
		return errors.New("the command has a NUL character, which no command line can carry; leave it out")
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("the working folder %q is not an absolute path", c.Dir)
	case err != nil:
		return fmt.Errorf("the working folder cannot be used: %w", err)
	case !info.IsDir():
		return fmt.Errorf("the working folder %s is not a folder", c.Dir)
	}
	return nil
}

// launch starts the shell with a pipe for each stream, or one for both.
func (p *process) launch(ctx context.Context, c shell.Command, o Options, s sandbox.Command, marker string) error {
	var err error
	if p.stdout, err = newStream(p.sink, o.MaxKept, o.Stdout); err != nil {
		return err
	}
	if p.stderr, err = newStream(p.sink, o.MaxKept, o.Stderr); err != nil {
		p.stdout.close()
		return err
	}
	if p.joined = same(o.Stdout, o.Stderr); p.joined {
		if err := p.stderr.join(p.stdout); err != nil {
			p.stdout.close()
			p.stderr.close()
			return err
		}
	}
	s.Stdout, s.Stderr = p.stdout.theirs, p.stderr.theirs
	var theirs *os.File
	if !c.Bash {
		if p.gate, theirs, err = newGate(p.clock); err == nil {
			s.Stdin = theirs
			p.gate.order(c, o, marker) // while the sandbox is being set up
		}
	}
	switch {
	case err != nil:
	case o.Sandbox != nil:
		p.body, err = startConfined(ctx, o.Sandbox, s)
	default:
		p.body, err = startBare(s, marker)
	}
	if theirs != nil {
		theirs.Close()
	}
	if err != nil {
		p.gate.close()
		p.stdout.close()
		p.stderr.close()
		return err
	}
	p.stdout.listen()
	p.stderr.listen()
	p.gate.serve(ctx, c.Judge)
	go func() {
		p.body.await()
		close(p.exited)
	}()
	if o.Signals != nil && p.gate != nil {
		go p.pass(o.Signals)
	}
	return nil
}

// pass hands signals to the shell until it ends.
func (p *process) pass(signals <-chan syscall.Signal) {
	for {
		select {
		case sig := <-signals:
			_ = p.gate.send(wire.Signal{Number: int(sig)}) // it has ended
		case <-p.exited:
			return
		}
	}
}

// end ends the whole command: it is asked first, and has a moment to obey.
func (p *process) end() {
	p.body.signal(unix.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.silent():
	case <-timer.C:
	}
	p.body.signal(unix.SIGKILL)
	<-p.exited
}

// stays is closed when the text has ended, and the shell goes on for the background.
func (p *process) stays() <-chan struct{} {
	if p.gate == nil {
		return nil
	}
	return p.gate.stays
}

// silent is closed when the text has ended and nobody holds its output open.
func (p *process) silent() <-chan struct{} {
	silent := make(chan struct{})
	go func() {
		select {
		case <-p.exited:
		case <-p.stays():
		}
		<-p.stdout.done
		<-p.stderr.done
		close(silent)
	}()
	return silent
}

// lives reports whether the shell still runs.
func (p *process) lives() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// drain waits until all output is read, but not for long if the text has ended: then it
// stops listening, and says so. Whoever the output is handed to has the time of ctx.
func (p *process) drain(ctx context.Context, patience time.Duration) (background bool) {
	ticker := time.NewTicker(patience)
	defer ticker.Stop()
	silent := p.silent()
	for waiting := true; waiting; {
		select {
		case <-silent:
			waiting = false
		case <-ticker.C:
			behind := p.stdout.telling.Load() || p.stderr.telling.Load()
			waiting, background = behind && ctx.Err() == nil, !behind
		}
	}
	p.stdout.stop(ctx)
	p.stderr.stop(ctx)
	p.sink.close()
	if p.confined && p.lives() {
		p.stdout.ignore()
		p.stderr.ignore()
	} else {
		p.stdout.ours.Close()
		p.stderr.ours.Close()
	}
	return background
}

func (p *process) result(ending Ending) Result {
	r := Result{Ending: ending, Stdout: p.stdout.kept.output(), Stderr: p.stderr.kept.output(), File: p.sink.name()}
	if p.joined {
		r.Stdout, r.Stderr = Output{}, r.Stdout // errors are looked for there
	}
	var end end
	if p.gate != nil {
		select {
		case <-p.exited:
			<-p.gate.gone // its last word may still be on the way
		default: // it stays for the background
		}
		told := p.gate.ending()
		r.Stopped, end.code, r.Dir = told.Why, told.Status, told.Dir
	}
	lives := p.lives()
	if !lives {
		end = p.body.end()
	}
	r.ExitCode, r.Signal = end.code, end.signal
	switch {
	case ending != Exited:
	case lives && p.confined:
		r.Left = launch.LeftBehind(p.gate.ending().Left)
		r.Running = &Running{p}
	default:
		r.Left = p.body.left()
	}
	switch {
	case ending == Exited && end.err != nil:
		r.Ending, r.Unseen = Lost, end.err
	case ending == Exited && end.tooLarge:
		r.Ending = TooLarge
	}
	return r
}

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
