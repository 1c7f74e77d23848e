package runner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A process is a command that was started.
type process struct {
	cmd    *exec.Cmd
	marker string
	exited chan struct{} // closed when bash has ended and was waited for

	sink           *sink
	stdout, stderr *stream
}

// start starts the command, or leaves nothing behind.
func start(c Command) (*process, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	marker := newMarker(c.Call)
	cmd, err := prepare(c, marker)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, marker: marker, exited: make(chan struct{})}
	if p.sink, err = newSink(c); err != nil {
		return nil, err
	}
	if err := p.launch(c.Keep); err != nil {
		p.sink.discard()
		return nil, fmt.Errorf("cannot start %s in %s: %w", cmd.Path, c.Dir, err)
	}
	return p, nil
}

// check refuses what can be told before anything is made.
func check(c Command) error {
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

func prepare(c Command, marker string) (*exec.Cmd, error) {
	bash, err := findBash(c.Shell)
	if err != nil {
		return nil, err
	}
	argv, err := c.argv(bash)
	if err != nil {
		return nil, fmt.Errorf("the command cannot be confined: %w", err)
	}
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return nil, fmt.Errorf("the command line %q does not begin with an absolute path", argv)
	}
	return &exec.Cmd{
		Path:        argv[0],
		Args:        argv,
		Dir:         c.Dir,
		Env:         append(c.Env.Entries(), "PWD="+c.Dir, Marker+"="+marker),
		SysProcAttr: attributes(),
	}, nil
}

// launch starts bash with a pipe for each stream.
func (p *process) launch(keep int) error {
	var err error
	if p.stdout, err = newStream(p.sink, keep); err != nil {
		return err
	}
	if p.stderr, err = newStream(p.sink, keep); err != nil {
		p.stdout.close()
		return err
	}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout.theirs, p.stderr.theirs
	if err = closeOthers(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.stdout.close()
		p.stderr.close()
		return err
	}
	p.stdout.listen()
	p.stderr.listen()
	go func() {
		_ = p.cmd.Wait() // its outcome is in the state
		close(p.exited)
	}()
	return nil
}

// end ends the whole command: it is asked first, and has a moment to obey.
func (p *process) end() {
	p.signal(unix.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.silent():
	case <-timer.C:
	}
	p.signal(unix.SIGKILL)
	<-p.exited
}

// silent is closed when bash has ended and nobody holds its output open.
func (p *process) silent() <-chan struct{} {
	silent := make(chan struct{})
	go func() {
		<-p.exited
		<-p.stdout.done
		<-p.stderr.done
		close(silent)
	}()
	return silent
}

// signal reaches the process group, and those that left it.
func (p *process) signal(sig syscall.Signal) {
	_ = unix.Kill(-p.cmd.Process.Pid, sig) // no such group: all have ended
	signalStrays(p.cmd.Process.Pid, p.marker, sig)
}

// drain waits until all output is read, but not for long if bash has ended: then it
// stops listening, and says so.
func (p *process) drain(patience time.Duration) (background bool) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.silent():
	case <-timer.C:
		background = true
	}
	p.stdout.stop()
	p.stderr.stop()
	p.sink.close()
	return background
}

func (p *process) result(ending Ending) Result {
	r := Result{Ending: ending, Stdout: p.stdout.kept.output(), Stderr: p.stderr.kept.output(), File: p.sink.name()}
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	r.ExitCode = status.ExitStatus()
	if status.Signaled() {
		r.ExitCode = 128 + int(status.Signal())
		r.Signal = unix.SignalName(status.Signal())
	}
	return r
}
