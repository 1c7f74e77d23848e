package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/wire"
)

// A Judge decides about an act of the shell inside. It may take its time; while it waits for
// a person it calls pause, and the command's time limit stands still until it resumes. Several
// acts may be judged at a time.
type Judge func(ctx context.Context, act wire.Act, pause func() (resume func())) wire.Answer

// maxActs is how many acts of a command are judged at a time. Others wait.
const maxActs = 64

// largeAct is the size from which acts are judged one after another: what is made of the words
// of a program takes many times their size.
const largeAct = 64 << 10

func size(act wire.Act) int {
	n := len(act.Path) + len(act.Text)
	for _, word := range slices.Concat(act.Argv, act.Env) {
		n += len(word)
	}
	return n
}

// A gate is this side's end of the connection to the shell inside.
type gate struct {
	conn  *os.File
	clock *stopwatch

	write sync.Mutex
	large sync.Mutex // held while a large act is judged

	stays chan struct{} // closed when the text has ended, and the shell goes on for the background
	gone  chan struct{} // closed when nothing more comes

	mu    sync.Mutex
	end   wire.End
	ended bool // it was told
}

// newGate makes both ends.
func newGate(clock *stopwatch) (*gate, *os.File, error) {
	syscall.ForkLock.RLock() // not every system has sockets that begin closed to programs
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		unix.Close(pair[0])
		unix.Close(pair[1])
		return nil, nil, err
	}
	g := &gate{conn: os.NewFile(uintptr(pair[0]), "gate"), clock: clock, stays: make(chan struct{}), gone: make(chan struct{})}
	return g, os.NewFile(uintptr(pair[1]), "gate"), nil
}

func (g *gate) close() {
	if g != nil {
		g.conn.Close()
	}
}

// order tells the shell what to run.
func (g *gate) order(c Command, marker string) {
	order := wire.Order{Text: c.Text, Dir: c.Dir, Env: c.env(marker), Ask: c.Ask, Stay: c.Sandbox == nil || c.Stay, Whole: c.Sandbox != nil}
	if c.Sandbox != nil {
		order.Wall = c.Profile.Wall
		order.Private = c.private()
	}
	go func() { _ = g.send(order) }() // if it has ended, how is in its status
}

// serve answers the shell until it ends.
func (g *gate) serve(ctx context.Context, judge Judge) {
	if g == nil {
		return
	}
	go func() {
		defer close(g.gone)
		defer g.conn.Close()
		g.answer(ctx, judge)
	}()
}

func (g *gate) answer(ctx context.Context, judge Judge) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // nobody waits for these answers any more
	room := make(chan struct{}, maxActs)
	for {
		message, err := wire.Read(g.conn)
		if err != nil {
			return
		}
		switch m := message.(type) {
		case wire.Act:
			room <- struct{}{}
			go func() {
				defer func() { <-room }()
				if size(m) > largeAct {
					g.large.Lock()
					defer g.large.Unlock()
				}
				_ = g.send(g.judged(ctx, judge, m)) // it has ended
			}()
		case wire.End:
			g.mu.Lock()
			first := !g.ended
			g.end, g.ended = m, true
			g.mu.Unlock()
			if m.Stays && first {
				close(g.stays)
			}
		default:
			return
		}
	}
}

// judged answers one act. Whatever goes wrong refuses it.
func (g *gate) judged(ctx context.Context, judge Judge, act wire.Act) (answer wire.Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = wire.Answer{Why: fmt.Sprintf("deciding about it failed: %v", r)}
		}
		answer.ID = act.ID
	}()
	if judge == nil {
		return wire.Answer{Why: "nothing decides about this command"}
	}
	return judge(ctx, act, g.clock.pause)
}

func (g *gate) send(message any) error {
	g.write.Lock()
	defer g.write.Unlock()
	return wire.Write(g.conn, message)
}

// ending returns how the text ended, as far as the shell has told it.
func (g *gate) ending() wire.End {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.end
}

// A stopwatch runs out after a time, not counting while it is paused.
type stopwatch struct {
	out chan struct{} // closed when the time has run out

	mu      sync.Mutex
	left    time.Duration
	since   time.Time
	timer   *time.Timer
	paused  int
	stopped bool
}

func newStopwatch(limit time.Duration) *stopwatch {
	w := &stopwatch{out: make(chan struct{}), left: limit, since: time.Now()}
	w.timer = time.AfterFunc(limit, func() { close(w.out) })
	return w
}

func (w *stopwatch) pause() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused++; w.paused == 1 && w.timer.Stop() {
		w.left -= time.Since(w.since)
	}
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.paused--; w.paused == 0 && !w.stopped && !w.ran() {
			w.since = time.Now()
			w.timer.Reset(max(w.left, 0))
		}
	})
}

func (w *stopwatch) ran() bool {
	select {
	case <-w.out:
		return true
	default:
		return false
	}
}

func (w *stopwatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}
