package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// A Stage is the network of the commands of one session, in a namespace that is made when the
// first of them starts. It is safe for concurrent use.
type Stage struct {
	options Options
	nsenter string // empty if there is none
	numbers atomic.Int64

	making sync.Mutex // held while a network is being made

	mu        sync.Mutex
	plain     bool // root may make a network namespace without a user namespace
	namespace *namespace
	captured  []uint16
}

// New returns a network.
func New(o Options) *Stage {
	s := &Stage{options: o, plain: os.Geteuid() == 0}
	for _, file := range []string{"/usr/bin/nsenter", "/bin/nsenter"} {
		if _, err := os.Stat(file); err == nil && s.nsenter == "" {
			s.nsenter = file
		}
	}
	return s
}

// Captured returns the ports that are captured, of the last network that was made, if the
// kernel did not let all of them be: connections to others are refused. Otherwise it is nil.
func (s *Stage) Captured() []uint16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.captured)
}

// Over returns a runner that starts the commands of a sandbox in the network, if their profile
// says that they have network by name; others it starts as they are. A command has a network of
// its own, unless another of the network still runs: then it joins that one's.
func (s *Stage) Over(r Through) sandbox.Runner { return &runner{r, s} }

type runner struct {
	Through
	network *Stage
}

// Start starts a command, in the network if its profile says so.
func (r *runner) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if n := c.Profile.Network; n.On || !n.ByName {
		return r.Through.Start(ctx, c)
	}
	m := &member{command: ctx.Value(commandKey{})}
	if g := r.network.join(m); g != nil {
		return r.started(g, m)(r.StartThrough(ctx, c, g.entrance(m)))
	}
	return r.make(ctx, c, m)
}

// make starts a command on a network of its own. Who comes meanwhile waits for it, and joins.
func (r *runner) make(ctx context.Context, c sandbox.Command, m *member) (sandbox.Process, error) {
	s := r.network
	s.making.Lock()
	if g := s.join(m); g != nil {
		s.making.Unlock()
		return r.started(g, m)(r.StartThrough(ctx, c, g.entrance(m)))
	}
	made := make(chan *namespace, 1)
	var why error
	entrance, take, err := s.entrance(m)
	if err != nil {
		s.making.Unlock()
		return nil, err
	}
	go func() {
		defer s.making.Unlock()
		g, err := take()
		if err == nil {
			s.mu.Lock()
			g.members = []*member{m}
			s.namespace, s.captured = g, g.ports
			s.mu.Unlock()
			g.open()
		}
		why = err
		made <- g
	}()
	p, err := r.StartThrough(ctx, c, entrance)
	entrance.Files[0].Close() // if it is not closed by now, nobody will send anything
	g := <-made
	if g == nil {
		switch {
		case err == nil:
			return p, nil // it was ended before it ran, and says why
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case s.fallBack(err):
			return r.make(ctx, c, m)
		}
		return nil, explain(errors.Join(why, err))
	}
	return r.started(g, m)(p, err)
}

// fallBack reports whether a start failed because root may not make a network namespace alone
// here. Then it is tried with a user namespace.
func (s *Stage) fallBack(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.plain || !errors.Is(err, syscall.EPERM) {
		return false
	}
	s.plain = false
	return true
}

// entrance starts the helper in new namespaces. Take waits for what it hands out.
func (s *Stage) entrance(m *member) (e launch.Entrance, take func() (*namespace, error), err error) {
	if len(s.options.Helper) == 0 {
		return e, nil, errors.New("the helper that makes a network has no command line")
	}
	if len(s.options.Local) > maxLocal || len(s.options.Ports) > maxLocal {
		return e, nil, fmt.Errorf("more than %d ports are named for the network of a command", maxLocal)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return e, nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "stage"), os.NewFile(uintptr(pair[1]), "stage")
	s.mu.Lock()
	plain := s.plain
	s.mu.Unlock()
	e = launch.Entrance{
		Before: func(fd int) []string {
			return append(slices.Clone(s.options.Helper), fmt.Sprint(fd), formatPorts(s.options.Local),
				formatPorts(s.options.Ports))
		},
		Files:   []*os.File{theirs},
		Prepare: func(a *syscall.SysProcAttr) { newNetwork(a, plain) },
		Started: func(pid int) { m.started(pid); theirs.Close() },
	}
	return e, func() (*namespace, error) {
		defer ours.Close()
		sockets, err := takeIn(int(ours.Fd()))
		if err != nil {
			return nil, err
		}
		return newNamespace(s, sockets, plain)
	}, nil
}

// newNetwork makes a process one in a network namespace of its own, with the right to set it
// up. An ordinary user has that right only in a user namespace of their own, in which they are
// who they are.
func newNetwork(a *syscall.SysProcAttr, plain bool) {
	a.Cloneflags |= syscall.CLONE_NEWNET
	if plain {
		return
	}
	a.Cloneflags |= syscall.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}
}

// join makes a command one of those on the network that is there; nil if there is none, or it
// cannot be joined.
func (s *Stage) join(m *member) *namespace {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.namespace == nil || s.nsenter == "" || s.namespace.net == nil ||
		s.namespace.user == nil && !s.namespace.plain {
		return nil
	}
	s.namespace.members = append(s.namespace.members, m)
	return s.namespace
}

// leave ends a network with its last command; at once, if that was ended from outside.
func (s *Stage) leave(g *namespace, m *member, atOnce bool) {
	s.mu.Lock()
	g.members = slices.DeleteFunc(g.members, func(o *member) bool { return o == m })
	last := len(g.members) == 0
	g.left = time.Now()
	if last && s.namespace == g {
		s.namespace = nil
	}
	s.mu.Unlock()
	m.close()
	if last {
		if atOnce {
			g.cancel()
		}
		g.close()
	}
}

// entrance starts a sandbox's program in the namespaces of the network. They are named by their
// descriptors in this process, so that none is handed over.
func (g *namespace) entrance(m *member) launch.Entrance {
	return launch.Entrance{
		Before: func(int) []string {
			argv := []string{g.network.nsenter}
			if !g.plain {
				argv = append(argv, "--preserve-credentials", "--user="+ownFile(g.user))
			}
			return append(argv, "--net="+ownFile(g.net), "--")
		},
		Started: m.started,
	}
}

func ownFile(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// started wraps what a runner started.
func (r *runner) started(g *namespace, m *member) func(sandbox.Process, error) (sandbox.Process, error) {
	return func(p sandbox.Process, err error) (sandbox.Process, error) {
		if err != nil {
			r.network.leave(g, m, true)
			return nil, err
		}
		over := &process{Process: p, over: make(chan struct{})}
		go func() {
			over.exit, over.err = p.Wait()
			r.network.leave(g, m, over.exit.Ended != "")
			close(over.over)
		}()
		return over, nil
	}
}

// A process is a command in a network: when it has ended, so has all that the network did for it.
type process struct {
	sandbox.Process
	over chan struct{}
	exit sandbox.Exit
	err  error
}

// Wait waits until the command is gone, with its connections if no other shares the network.
func (p *process) Wait() (sandbox.Exit, error) {
	<-p.over
	return p.exit, p.err
}

// Available makes a network once and runs a program on it that does nothing. It returns why that
// is not possible, and what to do about it.
func Available(helper []string) error {
	s := New(Options{Helper: helper})
	err := s.try()
	if s.fallBack(err) {
		err = s.try()
	}
	if err != nil {
		return explain(err)
	}
	return nil
}

// explain says what to do about a network that could not be made.
func explain(err error) error {
	for _, refused := range []error{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EINVAL} {
		if errors.Is(err, refused) {
			return fmt.Errorf("the system does not let assent make a network for commands: %w; "+
				"allow user namespaces (the sysctls user.max_user_namespaces and "+
				"kernel.apparmor_restrict_unprivileged_userns), or run commands without network by name", err)
		}
	}
	return fmt.Errorf("a network for the command could not be made: %w", err)
}

// try makes a network and ends it.
func (s *Stage) try() error {
	e, take, err := s.entrance(&member{})
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", ":")
	cmd.Dir, cmd.Env = "/", []string{}
	if err := e.Start(cmd); err != nil {
		e.Files[0].Close()
		_, _ = take() // nothing comes
		return err
	}
	g, err := take()
	if g != nil {
		g.close()
	}
	return errors.Join(err, cmd.Wait())
}
