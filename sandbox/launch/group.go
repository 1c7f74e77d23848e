package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
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
		g.exit.Left = LeftBehind(left)
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
	exit := exitOf(code)
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

// sizeSignal is 128 and SIGXFSZ, which has this number on every system here.
const sizeSignal = 128 + 25

// exitOf is the Exit of a command that ended with this status by itself.
func exitOf(code int) sandbox.Exit {
	if code == sizeSignal {
		return sandbox.Exit{Code: code, Ended: sandbox.EndingSize}
	}
	return sandbox.Exit{Code: code}
}

// An output counts what a command prints on both its streams.
type output struct {
	passed func() // told once, when the limit is passed

	mu   sync.Mutex
	left int64
}

// Connect gives a process the streams of a command. If its output is limited, passed is
// told when the limit is passed, and what comes later is dropped.
func Connect(cmd *exec.Cmd, c sandbox.Command, limit int64, passed func()) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	if limit == 0 {
		return
	}
	o := &output{passed: sync.OnceFunc(passed), left: limit}
	cmd.Stdout = o.limited(c.Stdout)
	if same(c.Stdout, c.Stderr) {
		cmd.Stderr = cmd.Stdout
		return
	}
	cmd.Stderr = o.limited(c.Stderr)
}

func (o *output) limited(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return &counted{o, w}
}

// take returns how many of n bytes may still be printed.
func (o *output) take(n int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n = int(min(int64(n), o.left))
	o.left -= int64(n)
	return n
}

type counted struct {
	*output
	w io.Writer
}

var errPassed = errors.New("the output limit is passed")

func (c *counted) Write(data []byte) (int, error) {
	n := c.take(len(data))
	if n > 0 {
		if written, err := c.w.Write(data[:n]); err != nil {
			return written, err
		}
	}
	if n < len(data) {
		c.passed()
		return n, errPassed
	}
	return n, nil
}

// same reports whether two writers are one, as package exec does.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }() // writers that cannot be compared
	return a == b
}

// maxNames is how many of the processes that a command left are named.
const maxNames = 5

// LeftBehind says which processes a command left in the background, given the name of
// each: "2 processes left in the background (python3, sleep)". It is empty if there are
// none. Processes name themselves, so what a name should not have is shown as a question
// mark.
func LeftBehind(names []string) string {
	count := "1 process"
	switch len(names) {
	case 0:
		return ""
	case 1:
	default:
		count = fmt.Sprintf("%d processes", len(names))
	}
	var shown []string
	for _, name := range names {
		shown = append(shown, strings.Map(plain, name))
	}
	slices.Sort(shown)
	shown = slices.Compact(shown)
	if len(shown) > maxNames {
		shown = append(shown[:maxNames], "…")
	}
	return fmt.Sprintf("%s left in the background (%s)", count, strings.Join(shown, ", "))
}

func plain(c rune) rune {
	letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	if letter || slices.Contains([]rune("._+:@/-"), c) {
		return c
	}
	return '?'
}
