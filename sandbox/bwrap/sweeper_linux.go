package bwrap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox/host"
)

// A sweeper removes placeholders when the program that made them is killed: a second
// process, which is told about each before it is made and does nothing until the first
// one is gone, and every sandbox that it was just setting up: bubblewrap makes what it
// does not find to mount over.
type sweeper struct {
	argv []string // how to start the process whose Main is Sweep

	mu   sync.Mutex
	cmd  *exec.Cmd
	pipe *os.File
	told map[string]bool
}

// tell makes sure that the sweeper knows the path.
func (s *sweeper) tell(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told[path] {
		return nil
	}
	if s.cmd == nil {
		if err := s.start(); err != nil {
			return fmt.Errorf("starting the process that cleans up: %w", err)
		}
	}
	if _, err := fmt.Fprintln(s.pipe, strconv.Quote(path)); err != nil {
		return fmt.Errorf("telling the process that cleans up: %w", err)
	}
	s.told[path] = true
	return nil
}

// start starts the process. What is written to it is not lost if this program is killed
// before the other one has read it.
func (s *sweeper) start() error {
	if len(s.argv) == 0 {
		return errors.New("it has no command line")
	}
	in, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = "/", []string{}, in
	if err := host.StartDetached(cmd); err != nil {
		pipe.Close()
		return err
	}
	s.cmd, s.pipe, s.told = cmd, pipe, map[string]bool{}
	return nil
}

// life returns a descriptor that keeps the process waiting as long as it is held.
func (s *sweeper) life() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	fd, err := unix.FcntlInt(s.pipe.Fd(), unix.F_DUPFD_CLOEXEC, 0)
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
	err := errors.Join(s.cmd.Process.Kill(), s.pipe.Close())
	_ = s.cmd.Wait() // it was killed
	s.cmd, s.pipe, s.told = nil, nil, nil
	return err
}

// Sweep is what the second process does: it reads paths until their sender is gone, and
// removes the placeholders that are left at them.
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
	var errs []error
	for _, p := range paths {
		errs = append(errs, remove(p))
	}
	return errors.Join(append(errs, lines.Err())...)
}
