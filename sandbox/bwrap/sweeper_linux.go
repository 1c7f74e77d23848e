package bwrap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox/launch"
)

// A sweeper cleans up when the program that runs commands is killed: a second process,
// which does nothing until the first one is gone. Then it ends what was just being set up
// (bubblewrap that loses its parent early leaves a child that waits forever) and removes
// the placeholders, of which it was told before they were made.
type sweeper struct {
	argv []string // how to start the process whose Main is Sweep

	mu   sync.Mutex
	cmd  *exec.Cmd
	pipe *os.File // paths go in here
	hold *os.File // the writing end of a pipe that everything holds which is being set up
	told map[string]bool
}

// start starts the process, once. What is written to it is not lost if this program is
// killed before the other one has read it.
func (s *sweeper) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		return nil
	}
	if len(s.argv) == 0 {
		return errors.New("the process that cleans up has no command line")
	}
	paths, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	defer paths.Close()
	life, hold, err := os.Pipe()
	if err != nil {
		pipe.Close()
		return err
	}
	defer life.Close()
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.ExtraFiles = "/", []string{launch.PartVariable + "=sweep"}, paths, []*os.File{life}
	if err := launch.StartSession(cmd); err != nil {
		pipe.Close()
		hold.Close()
		return fmt.Errorf("starting the process that cleans up: %w", err)
	}
	s.cmd, s.pipe, s.hold, s.told = cmd, pipe, hold, map[string]bool{}
	return nil
}

// tell makes sure that the sweeper, which was started, knows the path.
func (s *sweeper) tell(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told[path] {
		return nil
	}
	if _, err := fmt.Fprintln(s.pipe, strconv.Quote(path)); err != nil {
		return fmt.Errorf("telling the process that cleans up: %w", err)
	}
	s.told[path] = true
	return nil
}

// life returns a descriptor that says, as long as it is held, that something is being set
// up.
func (s *sweeper) life() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fd, err := unix.FcntlInt(s.hold.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "life"), nil
}

// stop ends the process, which has nothing left to do.
func (s *sweeper) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return nil
	}
	err := errors.Join(s.cmd.Process.Kill(), s.pipe.Close(), s.hold.Close())
	_ = s.cmd.Wait() // it was killed
	s.cmd, s.pipe, s.hold, s.told = nil, nil, nil, nil
	return err
}

// sweepFD is where the second process finds the reading end of the pipe that is held.
const sweepFD = 3

// Sweep is what the second process does: it reads paths until their sender is gone, ends
// what that one was setting up, and removes the placeholders that are left.
func Sweep(in io.Reader) error {
	var paths []string
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		path, err := strconv.Unquote(lines.Text())
		if err != nil {
			break // cut off in the middle: nothing was made for it
		}
		paths = append(paths, path)
	}
	if err := unix.SetNonblock(sweepFD, true); err != nil {
		return err
	}
	endHolders(os.NewFile(sweepFD, "life"))
	var errs []error
	for _, p := range paths {
		errs = append(errs, removeSoon(p))
	}
	return errors.Join(append(errs, lines.Err())...)
}

// removeSoon removes a placeholder. The program that is gone may still be letting go of it,
// one lock after another; whoever else holds it for longer will remove it.
func removeSoon(path string) error {
	for range 100 {
		if err := remove(path); !errors.Is(err, errHeld) {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// pause is how long the end of processes is waited for before they are looked for again.
const pause = 20 * time.Millisecond

// endHolders ends every process that holds the other end of the pipe. Nobody does but what
// a program that is gone was setting up.
func endHolders(life *os.File) {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", sweepFD))
	for err == nil {
		for _, pid := range holders(name) {
			_ = unix.Kill(pid, unix.SIGKILL) // it may be gone
		}
		_ = life.SetReadDeadline(time.Now().Add(pause))
		if _, err = life.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}
}

// holders are the other processes that have the pipe open.
func holders(pipe string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*") // processes come and go
	var out []int
	for _, f := range files {
		if target, err := os.Readlink(f); err != nil || target != pipe {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(f))))
		if err == nil && pid != os.Getpid() {
			out = append(out, pid)
		}
	}
	return out
}
