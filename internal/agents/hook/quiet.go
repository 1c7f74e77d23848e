package hook

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// tryWithin is how long a sandbox is tried, once for a machine as it is.
const tryWithin = 10 * time.Second

// noSandbox says why no sandbox works here; empty if one does. It is noted, so that only the first
// hook after a boot, or after another change that matters, has one tried.
func (a *answering) noSandbox(ctx context.Context) string {
	if a.Sandbox != nil {
		return a.Sandbox(ctx)
	}
	_, known, keeps := a.Places.SandboxNoted()
	if known || !keeps || a.looking {
		return a.Places.NoSandbox()
	}
	program := a.Places.Program()
	if filepath.Base(program) != "assent" {
		return "assent is not beside " + filepath.Base(program) + ", so no sandbox can be tried"
	}
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	var said bytes.Buffer
	c := exec.CommandContext(ctx, program, setup.WordInner, setup.WordTry, a.Places.State)
	c.Stderr = &said
	if err := c.Run(); err != nil {
		why := present.SafeLine("trying a sandbox failed: " + err.Error() + " " + said.String())
		if noted := a.Places.NoteSandbox(why); noted != nil { // the next hook tries again
			why += "; " + noted.Error()
		}
		return why
	}
	return a.Places.NoSandbox()
}

// Policy says which policy holds where no file speaks, if the user chose the quiet one; else it is
// empty.
func Policy(s *setup.Setup) string {
	switch {
	case s.Quiet:
		return setup.Quiet + " (hook.policy in config.yaml)"
	case s.Careful != "":
		return "careful, although your config.yaml says hook.policy: quiet, because " + s.Careful
	}
	return ""
}

// unheld has every change asked about that a command makes which the agent runs by itself: the
// quiet policy lets commands change the project because a sandbox holds them and undo covers them,
// and neither is so here.
func unheld(acts []policy.Act) []policy.Act {
	if !slices.ContainsFunc(acts, func(a policy.Act) bool { return changes(a) && a.Verdict == policy.VerdictFree }) {
		return acts
	}
	return uncovered(acts, "the agent runs it outside the sandbox, and undo will not cover it")
}
