package bwrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// A setup is a command on its way into its sandbox.
type setup struct {
	runner  *Runner
	command sandbox.Command
	args    Arguments
	filter  []byte
	through launch.Entrance
	held    []*placeholder
	// standing is what the sandbox must look like before the command runs.
	standing []standing
}

// hold makes what must exist to be mounted over, and keeps others from taking away what
// does already.
func (l *setup) hold(layout launch.Layout) error {
	if err := l.runner.sweeper.start(); err != nil {
		return err
	}
	for _, layer := range layout.Layers() {
		if layer.Mode != sandbox.ModeReadOnly || layer.Kind == launch.KindFile && !isMarked(layer.Path) {
			continue
		}
		if layer.Kind == launch.KindFolder && !isEmpty(layer.Path) {
			continue
		}
		if layer.Kind.Missing() || isMarked(layer.Path) {
			if err := l.runner.sweeper.tell(layer.Path); err != nil {
				return err
			}
		}
		p, err := hold(layer.Path, layer.Kind == launch.KindAbsentFile)
		if err != nil {
			return err
		}
		l.held = append(l.held, p)
	}
	return nil
}

func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) == 0
}

// letGo removes the placeholders that nobody else holds.
func (l *setup) letGo() error {
	var errs []error
	for _, p := range l.held {
		errs = append(errs, p.release())
	}
	l.held = nil
	return errors.Join(errs...)
}

// start starts bubblewrap and waits until the command may run.
func (l *setup) start(ctx context.Context) (*process, error) {
	var files files
	defer files.close()
	status, gate, err := files.open(l)
	if err != nil {
		return nil, fmt.Errorf("preparing the sandbox: %w", err)
	}
	cmd := exec.Command(l.runner.program.Path, append([]string{"--args", fmt.Sprint(argsFD), "--"}, l.args.Command...)...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.WaitDelay = "/", []string{}, files.child, drain
	p := &process{cmd: cmd, setup: l, status: status, gate: gate, pid1: none, over: make(chan struct{})}
	launch.Connect(cmd, l.command, l.command.Profile.Limits.Output, func() { p.end(sandbox.EndingOutput) })
	// Bubblewrap sees to its end itself. Ended by the kernel any earlier, it would leave
	// behind what it is about to start.
	if err := l.through.Start(cmd); err != nil {
		return nil, fmt.Errorf("starting bubblewrap: %w", err)
	}
	files.closeChild()
	files.parent = nil // the process has them
	go p.wait()
	p.watch(ctx, l.command.Profile.Limits.Time)
	err = p.openGate(ctx, gate)
	why := p.reason()
	if err != nil {
		p.end(sandbox.EndingCancelled)
	}
	p.closeGate()
	if err != nil {
		<-p.over
		p.finish() // if it became known only after bubblewrap had ended
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case why != "":
			return p, nil // its time ran out before it ran
		}
		return nil, err
	}
	return p, nil
}

// files are the descriptors of a launch.
type files struct {
	child  []*os.File // handed to bubblewrap, from descriptor 3 on
	parent []*os.File
}

// open opens them in the order that the plan expects, and returns this side's ends of the
// status pipe and the gate.
func (f *files) open(l *setup) (status, gate *os.File, err error) {
	args, err := memory("args", []byte(strings.Join(l.args.Options, "\x00")+"\x00"))
	if err != nil {
		return nil, nil, err
	}
	f.child = append(f.child, args)
	filter, err := memory("filter", l.filter)
	if err != nil {
		return nil, nil, err
	}
	f.child = append(f.child, filter)
	status, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	f.child, f.parent = append(f.child, theirs), append(f.parent, status)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return nil, nil, errors.Join(err, unix.Close(pair[0]), unix.Close(pair[1]))
	}
	gate = os.NewFile(uintptr(pair[0]), "gate")
	f.child, f.parent = append(f.child, os.NewFile(uintptr(pair[1]), "gate")), append(f.parent, gate)
	life, err := l.runner.sweeper.life()
	if err != nil {
		return nil, nil, err
	}
	f.child = append(f.child, life)
	for _, o := range l.args.Open {
		if o.Text != "" {
			text, err := memory("text", []byte(o.Text))
			if err != nil {
				return nil, nil, err
			}
			f.child = append(f.child, text)
			continue
		}
		flags := unix.O_PATH
		if o.Read {
			flags = unix.O_RDONLY
		}
		file, err := openNoLinks(o.Path, flags)
		if err != nil {
			return nil, nil, err
		}
		f.child = append(f.child, file)
	}
	return status, gate, nil
}

func (f *files) closeChild() {
	for _, c := range f.child {
		c.Close()
	}
	f.child = nil
}

func (f *files) close() {
	f.closeChild()
	for _, p := range f.parent {
		p.Close()
	}
}

// memory is a file that has no name anywhere.
func memory(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// childPID reads from the status pipe which process is the first one inside.
func childPID(status *os.File) (int, error) {
	var first struct {
		PID int `json:"child-pid"`
	}
	err := json.NewDecoder(io.LimitReader(status, 4096)).Decode(&first)
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) { // it has ended already
		return 0, ErrNotSetUp
	}
	if err != nil || first.PID <= 0 {
		return 0, fmt.Errorf("bubblewrap's status is not understood: %v", err)
	}
	return first.PID, nil
}
