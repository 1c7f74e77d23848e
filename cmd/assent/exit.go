package main

import (
	"context"
	"errors"

	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
)

// The exit statuses.
const (
	exitOK            = 0
	exitFailed        = 1
	exitUsage         = 2
	exitDenied        = 3
	exitNoSandbox     = 4
	exitPaused        = 5
	exitSandboxFailed = 125
	exitInterrupted   = 130
)

// exitStatus says how a command that ended with err ends the program.
func exitStatus(err error) int {
	var stopped *worker.StoppedError
	var status statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return status.status
	case errors.Is(err, open.ErrRequired):
		return exitNoSandbox
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.As(err, new(*worker.PausedError)):
		return exitPaused
	case errors.As(err, &stopped) && stopped.State != policy.StateDismissed, errors.Is(err, term.ErrStopped):
		return exitDenied
	case stopped != nil, errors.Is(err, term.ErrInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}
