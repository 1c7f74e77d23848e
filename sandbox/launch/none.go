package launch

import (
	"context"
	"errors"
	"os/exec"

	"github.com/assent-dev/assent/sandbox"
)

// None runs commands without a sandbox, for those who say so: with the environment, the
// time and output limits of a profile, and everything else that the user can do.
type None struct{}

var _ sandbox.Runner = None{}

// Name is none.
func (None) Name() string { return "none" }

// Needs is empty: who asks for no sandbox needs none of it.
func (None) Needs(sandbox.Profile) []string { return nil }

// Start starts the command.
func (None) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("there is no command to run")
	}
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{}, c.Env...)
	return StartGroup(ctx, cmd, c)
}
