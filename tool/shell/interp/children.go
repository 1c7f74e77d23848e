package interp

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Child is a program that this run started and that has not ended.
type Child struct {
	Pid        int
	Args       []string
	Background bool
}

// A child is a started program. Its goroutine waits for the end, and is the only one
// of a run that outlives it.
type child struct {
	info   Child
	p      Process
	leads  bool          // it is the process of a job
	done   chan struct{} // closed when the fields below are set
	status syscall.WaitStatus
	usage  syscall.Rusage
}

// firstVirtual is one more than the highest process id of Linux. Subshells have no
// process of their own and are numbered from there.
const firstVirtual = 1<<22 + 1

// A crowd has everything that runs at a time.
type crowd struct {
	mu        sync.Mutex
	children  map[int]*child
	shells    sync.WaitGroup // background shells
	bg        map[*job]bool  // running background jobs
	boxes     map[int]*mailbox
	virtual   atomic.Int64
	signalled atomic.Bool        // one was ended by a signal
	used      [2]syscall.Timeval // user and system time of ended children
}

func newCrowd() *crowd {
	c := &crowd{children: map[int]*child{}, bg: map[*job]bool{}, boxes: map[int]*mailbox{}}
	c.virtual.Store(firstVirtual - 1)
	return c
}

func (c *crowd) newPid() int { return int(c.virtual.Add(1)) }

// add notes a program that was started. It is listed before its job learns of it, so that who
// waits for the job finds it, and the job learns of it before it can end.
func (c *crowd) add(p Process, args []string, background bool, tell func(*child)) *child {
	ch := &child{info: Child{p.Pid(), args, background}, p: p, done: make(chan struct{})}
	c.mu.Lock()
	c.children[ch.info.Pid] = ch
	c.mu.Unlock()
	tell(ch)
	go func() {
		status, usage, err := p.Wait()
		if err != nil {
			status = 127 << 8 // somebody else took the status
		}
		ch.status = status
		if status.Signaled() {
			c.signalled.Store(true)
		}
		c.mu.Lock()
		delete(c.children, ch.info.Pid)
		if usage != nil {
			ch.usage = *usage
			addTime(&c.used[0], usage.Utime)
			addTime(&c.used[1], usage.Stime)
		}
		c.mu.Unlock()
		close(ch.done)
	}()
	return ch
}

func addTime(sum *syscall.Timeval, t syscall.Timeval) {
	*sum = syscall.NsecToTimeval(sum.Nano() + t.Nano())
}

// exitStatus is what bash makes of how a program ended.
func exitStatus(w syscall.WaitStatus) int {
	if w.Signaled() {
		return 128 + int(w.Signal())
	}
	return w.ExitStatus()
}

// Children lists the programs that run, in the order of their process ids.
func (r *Runner) Children() []Child {
	r.crowd.mu.Lock()
	defer r.crowd.mu.Unlock()
	var list []Child
	for _, ch := range r.crowd.children {
		list = append(list, ch.info)
	}
	slices.SortFunc(list, func(a, b Child) int { return cmp.Compare(a.Pid, b.Pid) })
	return list
}

// Background reports how many background commands are still running, including shells
// that this process interprets.
func (r *Runner) Background() int {
	r.crowd.mu.Lock()
	defer r.crowd.mu.Unlock()
	return len(r.crowd.bg)
}

// Wait waits until all background commands have ended. A program that ends before has
// to call it, or takes the rest of those commands with it.
func (r *Runner) Wait() {
	r.crowd.shells.Wait()
	for _, ch := range r.running() {
		<-ch.done
	}
}

func (r *Runner) running() []*child {
	r.crowd.mu.Lock()
	defer r.crowd.mu.Unlock()
	var list []*child
	for _, ch := range r.crowd.children {
		list = append(list, ch)
	}
	return list
}

// ErrTerminated is the reason of a run that [Runner.Terminate] ended.
var ErrTerminated = errors.New("the command was terminated")

// Terminate stops the run, asks every running program to end with SIGTERM, and kills
// those that are still there after the grace. When it returns, none runs and no
// goroutine of this run is left.
func (r *Runner) Terminate(grace time.Duration) {
	r.gate.close(ErrTerminated)
	children := r.running() // complete: no start passes a closed gate
	for _, ch := range children {
		ch.p.Signal(syscall.SIGTERM)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for _, ch := range children {
		select {
		case <-ch.done:
			continue
		case <-timer.C:
		}
		for _, ch := range children {
			ch.p.Signal(syscall.SIGKILL)
		}
		break
	}
	for _, ch := range children {
		<-ch.done
	}
	r.crowd.shells.Wait()
}

// A mailbox takes the signals of a shell that others can see: the main one and those in
// the background.
type mailbox struct {
	owner *shell
	any   atomic.Bool
	bell  chan struct{}

	mu      sync.Mutex
	pending []syscall.Signal
	r, w    *os.File
	d       *desc
}

func newMailbox(owner *shell) *mailbox {
	return &mailbox{owner: owner, bell: make(chan struct{}, 1)}
}

// post leaves a signal for the shell.
func (m *mailbox) post(sig syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = append(m.pending, sig)
	m.any.Store(true)
	select {
	case m.bell <- struct{}{}:
	default:
	}
	if m.w != nil {
		m.w.Write([]byte{0})
	}
}

// take returns what was posted.
func (m *mailbox) take() []syscall.Signal {
	m.mu.Lock()
	defer m.mu.Unlock()
	pending := m.pending
	m.pending = nil
	m.any.Store(false)
	select {
	case <-m.bell:
	default:
	}
	if m.r != nil {
		unix.SetNonblock(m.d.fd, true)
		var buf [64]byte
		for {
			if n, _ := syscall.Read(m.d.fd, buf[:]); n < len(buf) {
				break
			}
		}
	}
	return pending
}

// poll returns a descriptor that turns readable when a signal is posted.
func (m *mailbox) poll() *desc {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.d == nil {
		r, w, err := pipe()
		if err != nil {
			return nil
		}
		m.r, m.w, m.d = r, w, adopt(r)
		if len(m.pending) > 0 {
			w.Write([]byte{0})
		}
	}
	return m.d
}

func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.d != nil {
		m.d.release()
		m.w.Close()
		m.d, m.r, m.w = nil, nil, nil
	}
}

// Signal gives the main shell a signal, as if its process had got it.
func (r *Runner) Signal(sig syscall.Signal) { r.main.box.post(sig) }
