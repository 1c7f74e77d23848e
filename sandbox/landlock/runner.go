package landlock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// planFD is where the copy of this program finds its plan.
const planFD = 3

// A Runner starts commands restricted by Landlock.
type Runner struct {
	apply []string
}

var _ sandbox.Runner = (*Runner)(nil)

// New returns a runner. Apply is the command line of a process that calls [Apply].
func New(apply []string) *Runner { return &Runner{apply: apply} }

// Name is landlock.
func (r *Runner) Name() string { return "landlock" }

// Needs returns what Landlock cannot hold.
func (r *Runner) Needs(p sandbox.Profile) []string { return Needs(p) }

// Start starts the command.
func (r *Runner) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if err := launch.NotAPart(); err != nil {
		return nil, err
	}
	if needs := Needs(c.Profile); len(needs) > 0 {
		return nil, fmt.Errorf("%w: Landlock has no way of %s", sandbox.ErrNotHeld, strings.Join(needs, "; of "))
	}
	if len(c.Argv) == 0 || len(r.apply) == 0 {
		return nil, errors.New("there is no command to run")
	}
	layout, err := launch.Survey(c.Profile)
	if err != nil {
		return nil, err
	}
	c.Env = withoutHome(c)
	plan, err := json.Marshal(NewPlan(layout, c, isFolder))
	if err != nil {
		return nil, err
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(r.apply[0], r.apply[1:]...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = c.Dir, []string{launch.PartVariable + "=landlock"}, []*os.File{in}
	p, err := launch.StartGroup(ctx, cmd, c)
	if err != nil {
		out.Close()
		return nil, err
	}
	_, err = out.Write(plan) // if nobody reads it any more, the exit status says why
	return p, errors.Join(ignorePipe(err), out.Close())
}

func ignorePipe(err error) error {
	if errors.Is(err, os.ErrClosed) || err != nil && strings.Contains(err.Error(), "broken pipe") {
		return nil
	}
	return err
}

// withoutHome leaves out a home folder that is not there: there is no private one.
func withoutHome(c sandbox.Command) []string {
	return slices.DeleteFunc(slices.Clone(c.Env), func(v string) bool {
		home, ok := strings.CutPrefix(v, "HOME=")
		return ok && (!filepath.IsAbs(home) || c.Profile.At(filepath.Clean(home)) == sandbox.ModeHidden)
	})
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
