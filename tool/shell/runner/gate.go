package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/wire"
)

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

	proxy func(context.Context, net.Listener)

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
	g := &gate{conn: os.NewFile(uintptr(pair[0]), "gate"), clock: clock, stays: make(chan struct{}),
		gone: make(chan struct{})}
	return g, os.NewFile(uintptr(pair[1]), "gate"), nil
}

func (g *gate) close() {
	if g != nil {
		g.conn.Close()
	}
}

// order tells the shell what to run.
func (g *gate) order(c shell.Command, o Options, marker string) {
	order := wire.Order{Text: c.Text, Dir: c.Dir, Env: o.env(c.Dir, marker), Ask: c.Ask,
		Stay: o.Sandbox == nil || c.Stay}
	if g.proxy = o.Proxy; g.proxy != nil {
		order.Proxy = ProxyAddress
	}
	if o.Sandbox != nil {
		order.Whole, order.Wall, order.Private = true, o.Profile.Wall, o.private()
	}
	go func() { _ = g.send(order) }() // if it has ended, how is in its status
}

// serve answers the shell until it ends.
func (g *gate) serve(ctx context.Context, judge shell.Judge) {
	if g == nil {
		return
	}
	go func() {
		defer close(g.gone)
		defer g.conn.Close()
		g.answer(ctx, judge)
	}()
}

func (g *gate) answer(ctx context.Context, judge shell.Judge) {
	var proxied sync.WaitGroup
	defer proxied.Wait() // its last connections are recorded before the command counts as ended
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // nobody waits for these answers any more
	if g.proxy != nil {
		l, err := g.listener()
		if err != nil {
			return // the shell has ended, and said why
		}
		proxied.Go(func() { g.proxy(ctx, l) })
		context.AfterFunc(ctx, func() { l.Close() })
	}
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

// listener receives the listener that the shell made inside.
func (g *gate) listener() (net.Listener, error) {
	raw, err := g.conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	control := make([]byte, unix.CmsgSpace(4))
	n, received := 0, 0
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, received, _, _, failed = unix.Recvmsg(int(fd), make([]byte, 1), control, 0)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err = errors.Join(err, failed); err != nil || n == 0 {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	messages, err := unix.ParseSocketControlMessage(control[:received])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(err, errors.New("no listener came"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(err, errors.New("no listener came"))
	}
	unix.CloseOnExec(fds[0])
	f := os.NewFile(uintptr(fds[0]), "proxy")
	defer f.Close()
	return net.FileListener(f)
}

// judged answers one act. Whatever goes wrong refuses it.
func (g *gate) judged(ctx context.Context, judge shell.Judge, act wire.Act) (answer wire.Answer) {
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

// A Clock stops the time of a command. Before the command is started it does nothing.
type Clock struct{ watch atomic.Pointer[stopwatch] }

// Pause stops the time until resume is called.
func (c *Clock) Pause() (resume func()) {
	if w := c.watch.Load(); w != nil {
		return w.pause()
	}
	return func() {}
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
