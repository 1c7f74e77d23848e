package bwrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/sandbox/seccomp"
)

// A Runner starts commands in bubblewrap. Close it when the last one has ended.
type Runner struct {
	program Program
	sweeper sweeper
	linger  time.Duration
}

var _ sandbox.Runner = (*Runner)(nil)

// New returns a runner. Sweep is the command line of a process that calls [Sweep] with its
// standard input; it is started when a placeholder is needed.
func New(p Program, sweep []string) *Runner {
	return &Runner{program: p, sweeper: sweeper{argv: sweep}, linger: linger}
}

// Name is bwrap.
func (r *Runner) Name() string { return Name }

// Needs returns what bubblewrap cannot hold.
func (r *Runner) Needs(p sandbox.Profile) []string {
	var needs []string
	for _, root := range p.Roots {
		for _, kernel := range []string{"/proc", "/dev", "/sys"} {
			if sandbox.Below(kernel, root.Path) {
				needs = append(needs, fmt.Sprintf("%s is the kernel's own and cannot be handed over (%s)", root.Path, root.Source))
			}
		}
	}
	return needs
}

// Close ends the process that cleans up, if there is one. No command may be running.
func (r *Runner) Close() error { return r.sweeper.stop() }

// Start starts a command and returns when its sandbox stands and it runs.
func (r *Runner) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	return r.StartThrough(ctx, c, launch.Entrance{})
}

// StartThrough starts a command like Start, with bubblewrap started through an entrance that
// has made a network namespace for it, in which names are answered at [Resolver].
func (r *Runner) StartThrough(ctx context.Context, c sandbox.Command, e launch.Entrance) (sandbox.Process, error) {
	if err := errors.Join(launch.NotAPart(), r.check(c)); err != nil {
		return nil, err
	}
	layout, err := launch.Survey(c.Profile)
	if err != nil {
		return nil, err
	}
	args := Plan(Request{
		Layout: layout, Files: c.Profile.Files, Network: c.Profile.Network, Limits: c.Profile.Limits,
		Argv: c.Argv, Enters: c.Enters, Dir: c.Dir, Env: c.Env, ByFD: r.program.ByFD, Root: os.Geteuid() == 0,
		Staged: e.Through(), Tmp: c.Tmp,
	}, exists)
	code, err := seccomp.Assemble(seccomp.Options{
		Arch: runtime.GOARCH, Internet: true, UnixSockets: len(c.Profile.Sockets) > 0,
	})
	if err != nil {
		return nil, err
	}
	l := &setup{runner: r, command: c, args: args, filter: seccomp.Bytes(code), through: e}
	if err := errors.Join(l.hold(layout), l.remember(layout)); err != nil {
		return nil, errors.Join(err, l.letGo())
	}
	p, err := l.start(ctx)
	if err != nil {
		return nil, errors.Join(err, l.letGo())
	}
	return p, nil
}

// check refuses a command that could not be what its caller means.
func (r *Runner) check(c sandbox.Command) error {
	if needs := r.Needs(c.Profile); len(needs) > 0 {
		return fmt.Errorf("%w: %s", sandbox.ErrNotHeld, strings.Join(needs, "; "))
	}
	if len(c.Argv) == 0 {
		return errors.New("there is no command to run")
	}
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() || !filepath.IsAbs(c.Dir) {
		return fmt.Errorf("the working directory %q is not a folder", c.Dir)
	}
	if by, hidden := c.Profile.Hidden(c.Dir); hidden {
		return fmt.Errorf("no command can run in %s, which is hidden from commands (%s); choose another folder, "+
			"or narrow what hides it", c.Dir, by.Source)
	}
	for _, text := range append(append([]string{c.Dir}, c.Argv...), c.Env...) {
		if strings.ContainsRune(text, 0) {
			return errors.New("a zero byte in the command, its folder or its environment")
		}
	}
	for _, v := range c.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return fmt.Errorf("the environment has %q, which is not NAME=VALUE", v)
		}
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
