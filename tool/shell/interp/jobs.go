package interp

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/syntax"
)

// A job is a command in the background.
type job struct {
	n     int // as in %1
	owner int // the shell whose child it is
	text  string
	done  chan struct{} // closed when status is set

	once  sync.Once
	ready chan struct{} // closed when pid is set
	pid   int

	box      *mailbox
	procSub  bool
	disowned atomic.Bool
	reported atomic.Bool // its end was waited for
	told     atomic.Bool // the signal that ended it was reported

	mu         sync.Mutex
	prog       *child // the program that took the place of the shell
	endStandIn func() // ends the process that stands for the shell
	status     int
	signal     syscall.Signal
}

func (j *job) setPid(pid int) {
	j.once.Do(func() {
		j.pid = pid
		close(j.ready)
	})
}

func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// jobPid returns the process id of a job, which a program gets when it is started.
func (s *shell) jobPid(j *job) int {
	s.await(j.ready)
	return j.pid
}

func (s *shell) newJob(c *shell, text string) *job {
	j := &job{text: text, owner: s.self, done: make(chan struct{}), ready: make(chan struct{})}
	c.box = newMailbox(c)
	j.box = c.box
	return j
}

// launch runs a subshell in the background.
func (s *shell) launch(c *shell, j *job, body func()) {
	crowd := s.r.crowd
	crowd.mu.Lock()
	crowd.bg[j] = true
	crowd.boxes[c.pid] = c.box
	crowd.mu.Unlock()
	crowd.shells.Add(1)
	if c.lead == nil {
		c.ledByShell(j)
	}
	c.jobs = nil
	go func() {
		defer crowd.shells.Done()
		status := c.detached(body)
		j.mu.Lock()
		j.status = status
		j.signal = c.killed
		j.mu.Unlock()
		j.setPid(c.pid)
		crowd.mu.Lock()
		delete(crowd.bg, j)
		maps.DeleteFunc(crowd.boxes, func(_ int, box *mailbox) bool { return box == c.box })
		crowd.mu.Unlock()
		c.box.close()
		close(j.done)
		j.mu.Lock()
		end := j.endStandIn
		j.mu.Unlock()
		if end != nil {
			end()
		}
	}()
}

// ledByShell gives a job that turns out to be a group, a function or a builtin the number
// by which others know it.
func (s *shell) ledByShell(j *job) {
	crowd := s.r.crowd
	if s.r.h.StandIn == nil || j.procSub {
		j.setPid(s.pid)
		return
	}
	var p Process
	var err error
	if !s.r.gate.pass(func() { p, err = s.r.h.StandIn(s.ctx) }) || err != nil {
		j.setPid(s.pid)
		return
	}
	gone := make(chan struct{})
	j.mu.Lock()
	j.endStandIn = func() {
		p.Signal(syscall.SIGKILL)
		<-gone
	}
	j.mu.Unlock()
	go func() {
		defer close(gone)
		if status, _, err := p.Wait(); err == nil && status.Signaled() && !j.ended() {
			j.box.post(status.Signal()) // somebody else ended it
		}
	}()
	crowd.mu.Lock()
	crowd.boxes[p.Pid()] = j.box
	crowd.mu.Unlock()
	if s.box == j.box {
		s.pid = p.Pid()
	}
	j.setPid(p.Pid())
}

// notProgram says that this shell's command is not a program, so that the job it leads has
// no process.
func (s *shell) notProgram() {
	if j := s.lead; j != nil {
		s.lead = nil
		s.ledByShell(j)
	}
}

// background runs a statement that ends in &.
func (s *shell) background(st *syntax.Stmt) {
	s.at(st.Pos())
	own := *st
	own.Background = false
	debugged := s.debugAhead(&own)
	c := s.sub()
	c.inDebug = debugged
	_, c.simpleStage = st.Cmd.(*syntax.CallExpr)
	j := s.newJob(c, stmtText(s.src, &own))
	switch cm := st.Cmd.(type) {
	case *syntax.CallExpr:
		c.lead = j
	case *syntax.BinaryCmd:
		if cm.Op == syntax.Pipe || cm.Op == syntax.PipeAll {
			c.lead = j
		}
	case *syntax.Subshell:
		c.tail = j
		if n := len(cm.Stmts); n > 0 {
			c.last = lastStmt(cm.Stmts[n-1])
		}
	}
	if s.r.null == nil {
		if d, err := openNull(); err == nil {
			s.r.null = d
		}
	}
	if s.r.null != nil {
		c.fds.put(0, s.r.null.hold())
	}
	c.inBackground = true
	s.addJob(j)
	s.lastBg = j
	s.launch(c, j, func() { c.unwrapped(&own) })
	s.status = 0
	s.pipeStatus = []int{0}
}

func (s *shell) addJob(j *job) {
	// Ended ones are no longer listed, but can still be waited for.
	var live []*job
	for _, old := range s.jobs {
		if old.ended() {
			s.past = append(slices.Clip(s.past), old)
		} else {
			live = append(live, old)
		}
	}
	s.jobs = live
	for _, other := range s.jobs {
		j.n = max(j.n, other.n)
	}
	j.n++
	s.jobs = append(s.jobs, j)
}

// reapJobs tells of jobs that a signal ended, as bash does between two commands.
func (s *shell) reapJobs() {
	if len(s.jobs) == 0 || s.level > 0 {
		return
	}
	for _, j := range s.jobs {
		if j.ended() && !j.told.Swap(true) {
			s.tellSignal(j.pid, j.signal, j.text, false)
		}
	}
}

// tellSignal reports what a signal ended.
func (s *shell) tellSignal(pid int, sig syscall.Signal, text string, foreground bool) {
	switch sig {
	case 0, syscall.SIGINT, syscall.SIGPIPE:
		return
	case syscall.SIGTERM:
		if foreground {
			s.errText("Terminated\n")
		}
		return
	}
	s.errText(fmt.Sprintf("%s%5d %-23s %s\n", s.prefix(), pid, signalText(sig), text))
}

// signalText is what the C library calls a signal.
func signalText(sig syscall.Signal) string {
	switch sig {
	case syscall.SIGHUP:
		return "Hangup"
	case syscall.SIGINT:
		return "Interrupt"
	case syscall.SIGQUIT:
		return "Quit"
	case syscall.SIGILL:
		return "Illegal instruction"
	case syscall.SIGTRAP:
		return "Trace/breakpoint trap"
	case syscall.SIGABRT:
		return "Aborted"
	case syscall.SIGBUS:
		return "Bus error"
	case syscall.SIGFPE:
		return "Floating point exception"
	case syscall.SIGKILL:
		return "Killed"
	case syscall.SIGUSR1:
		return "User defined signal 1"
	case syscall.SIGSEGV:
		return "Segmentation fault"
	case syscall.SIGUSR2:
		return "User defined signal 2"
	case syscall.SIGPIPE:
		return "Broken pipe"
	case syscall.SIGALRM:
		return "Alarm clock"
	case syscall.SIGTERM:
		return "Terminated"
	}
	return "Signal " + itoa(int(sig))
}

// findJob finds the job that %1, %+, %name or a process id means.
func (s *shell) findJob(spec string) *job {
	live := slices.DeleteFunc(slices.Clone(s.jobs), func(j *job) bool { return j.disowned.Load() })
	if !strings.HasPrefix(spec, "%") {
		pid, err := strconv.Atoi(spec)
		if err != nil {
			return nil
		}
		for _, j := range slices.Backward(slices.Concat(s.past, s.jobs)) {
			if s.jobPid(j) == pid {
				return j
			}
		}
		if s.lastBg != nil && s.jobPid(s.lastBg) == pid {
			return s.lastBg
		}
		return nil
	}
	at := func(back int) *job {
		if i := len(live) - back; i >= 0 {
			return live[i]
		}
		return nil
	}
	switch name := spec[1:]; name {
	case "", "%", "+":
		return at(1)
	case "-":
		if len(live) == 1 {
			return at(1)
		}
		return at(2)
	default:
		if n, err := strconv.Atoi(name); err == nil {
			for _, j := range live {
				if j.n == n {
					return j
				}
			}
			return nil
		}
		text, anywhere := strings.CutPrefix(name, "?")
		for _, j := range slices.Backward(live) {
			if anywhere && strings.Contains(j.text, text) || strings.HasPrefix(j.text, text) {
				return j
			}
		}
	}
	return nil
}

// send sends a signal to a job: to its program if that took the place of the shell, or
// to the shell that this process runs.
func (s *shell) send(j *job, sig syscall.Signal) error {
	if j.ended() {
		return syscall.ESRCH
	}
	s.jobPid(j) // the program may be about to start
	j.mu.Lock()
	prog := j.prog
	j.mu.Unlock()
	if prog != nil {
		return prog.p.Signal(sig)
	}
	if sig != 0 {
		j.box.post(sig)
	}
	return nil
}

// killSelf is a signal of a subshell to itself.
func (s *shell) killSelf(sig syscall.Signal) error {
	t, ok := s.traps[signalName(sig)]
	switch {
	case sig == 0 || ok && t.ignores():
	case ok && !t.inherited && sig != syscall.SIGKILL:
		s.runTrap(signalName(sig), t)
	default:
		s.die(sig)
	}
	return nil
}

// kill sends a signal to a process id as kill(2) does, except to this process.
func (s *shell) kill(pid int, sig syscall.Signal) error {
	crowd := s.r.crowd
	crowd.mu.Lock()
	box := crowd.boxes[pid]
	crowd.mu.Unlock()
	switch {
	case pid == s.pid && s.level > 0 && box == nil:
		return s.killSelf(sig)
	case box != nil:
		for _, j := range s.jobs {
			if j.box == box {
				return s.send(j, sig)
			}
		}
		if sig != 0 {
			box.post(sig)
		}
		return nil
	case pid >= firstVirtual:
		return syscall.ESRCH
	case pid == s.r.pid:
		if sig != 0 {
			s.r.main.box.post(sig)
		}
		return nil
	case pid == 0 || pid == -s.r.pid || pid == -unix.Getpgrp():
		// The whole group: everything that this run started, and the shell itself.
		for _, ch := range s.r.running() {
			if sig != 0 {
				ch.p.Signal(sig)
			}
		}
		if sig != 0 {
			s.r.main.box.post(sig)
		}
		return nil
	case pid == -1:
		s.unsupported("kill -1", s.pos)
	}
	for _, ch := range s.r.running() {
		if ch.info.Pid == pid {
			if sig == 0 {
				return nil
			}
			return ch.p.Signal(sig)
		}
	}
	var err error
	if !s.r.gate.pass(func() { err = syscall.Kill(pid, sig) }) {
		panic(halted{})
	}
	return err
}
