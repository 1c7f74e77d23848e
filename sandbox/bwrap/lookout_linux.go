package bwrap

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// linger is how long processes that are still there when their command has ended may take
// to end by themselves, as what is written to >(tee log) does.
const linger = 100 * time.Millisecond

// A lookout sees which processes a command leaves in the background. The kernel ends them
// together with bubblewrap, which ends at once with the command; so while the command
// runs, bubblewrap is stopped, and goes on when the lookout has looked. It has nothing to
// do meanwhile, and a stopped process is killed like any other.
type lookout struct {
	command, pid1 int      // descriptors of the command and of the first process inside
	proc          *os.File // the processes inside, as they see themselves
	over          chan struct{}
	left          []string // set before over is closed
}

// lookOut begins to, before the command runs.
func (p *process) lookOut(command, pid1 int) error {
	l := &lookout{command: none, pid1: none, over: make(chan struct{})}
	var err error
	if l.proc, err = os.Open(fmt.Sprintf("/proc/%d/root/proc", pid1)); err == nil {
		if l.pid1, err = unix.PidfdOpen(pid1, 0); err == nil {
			l.command, err = unix.PidfdOpen(command, 0)
		}
	}
	if err != nil {
		l.close()
		return ErrNotSetUp // they are gone already
	}
	p.mu.Lock()
	p.lookout = l
	p.mu.Unlock()
	_ = p.cmd.Process.Signal(unix.SIGSTOP) // it may have been killed
	go func() {
		defer close(l.over)
		defer l.close()
		awaitEnd(l.command, l.pid1)
		l.left = l.look(p.setup.runner.linger)
		_ = p.cmd.Process.Signal(unix.SIGCONT) // likewise
	}()
	return nil
}

// wait returns what was left, in words, of a command that ended like this: one that was
// ended from outside left nothing.
func (l *lookout) wait(exit sandbox.Exit) string {
	<-l.over
	if exit.Ended != "" && exit.Ended != sandbox.EndingSize {
		return ""
	}
	return launch.LeftBehind(l.left)
}

// look returns the names of the processes that are there and stay.
func (l *lookout) look(linger time.Duration) []string {
	if len(l.running()) == 0 {
		return nil
	}
	if endWithin(linger, l.pid1) {
		return nil // the first process ends when it has no others to wait for
	}
	return l.running()
}

// running returns the names of the processes inside but the first, which is bubblewrap's.
func (l *lookout) running() []string {
	if _, err := l.proc.Seek(0, io.SeekStart); err != nil {
		return nil
	}
	files, _ := l.proc.Readdirnames(-1) // processes come and go
	var names []string
	for _, file := range files {
		if pid, err := strconv.Atoi(file); err != nil || pid == 1 {
			continue
		}
		if name := l.name(file); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// name returns what a process calls itself; nothing if it has ended.
func (l *lookout) name(pid string) string {
	s, ok := launch.StatOf(l.proc, pid)
	if !ok || s.Ended() {
		return ""
	}
	return s.Name
}

func (l *lookout) close() {
	for _, fd := range []int{l.command, l.pid1} {
		if fd != none {
			unix.Close(fd)
		}
	}
	if l.proc != nil {
		l.proc.Close()
	}
}

// hear waits for the prelude to say that it is there, and returns which process it is, as
// the kernel says; 0 if it will never be. It is to become the command.
func hear(gate *os.File) int {
	word, control := make([]byte, 1), make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	n, size, _, _, err := unix.Recvmsg(int(gate.Fd()), word, control, 0)
	if err != nil || n != 1 {
		return 0
	}
	messages, err := unix.ParseSocketControlMessage(control[:size])
	if err != nil || len(messages) != 1 {
		return 0
	}
	sender, err := unix.ParseUnixCredentials(&messages[0])
	if err != nil {
		return 0
	}
	return int(sender.Pid)
}
