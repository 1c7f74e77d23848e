package tool

import (
	"errors"
	"fmt"
	"strings"
)

// ErrEnded says that a call has ended before and is not run again; its result
// was given then.
var ErrEnded = errors.New("it has ended before and was not run again")

// ErrRunning says that a call is being run by somebody else.
var ErrRunning = errors.New("it is being run already")

// ErrSuspended is what a [Do] returns, wrapped or not, whose body is a run of its
// own that waits or goes on elsewhere. [Finish] leaves the call suspended and
// enters it again the next time; it is never begun anew. [Calls], which cannot
// come back to it, takes it for a failure.
var ErrSuspended = errors.New("it goes on later")

// A ConfigError is something in config that keeps a tool from being made.
type ConfigError struct {
	Source string // the file and line; empty if it is not known
	Err    error
}

func (e *ConfigError) Error() string {
	if e.Source == "" {
		return e.Err.Error()
	}
	return e.Source + ": " + e.Err.Error()
}

func (e *ConfigError) Unwrap() error { return e.Err }

// A FailedError reports a call that was allowed, ran, and failed.
type FailedError struct {
	Tool string
	Err  error
}

func (e *FailedError) Error() string { return fmt.Sprintf("%s failed: %v", e.Tool, e.Err) }

func (e *FailedError) Unwrap() error { return e.Err }

// ForModel returns what the model is told.
func (e *FailedError) ForModel() string {
	return fmt.Sprintf("[FAILED] %s was allowed, ran, and failed: %s. You may correct the call and try again.", e.Tool,
		clause(e.Err))
}

// A CancelledError reports a call that was allowed and then stopped.
type CancelledError struct {
	Tool string
	// Started says that it had begun, so that part of it may be done.
	Started bool
	Err     error
}

func (e *CancelledError) Error() string { return fmt.Sprintf("%s was cancelled: %v", e.Tool, e.Err) }

func (e *CancelledError) Unwrap() error { return e.Err }

// ForModel returns what the model is told.
func (e *CancelledError) ForModel() string {
	what := "did not run; nothing was changed"
	if e.Started {
		what = "was stopped before it finished; part of it may be done"
	}
	return fmt.Sprintf("[CANCELLED] %s %s: %s. Do not retry unless you are told to.", e.Tool, what, clause(e.Err))
}

// An UnknownError reports a call that had started and whose end was not seen,
// because the program ended while it ran.
type UnknownError struct{ Tool string }

func (e *UnknownError) Error() string {
	return e.Tool + " had started and its end was not seen"
}

// ForModel returns what the model is told.
func (e *UnknownError) ForModel() string {
	return fmt.Sprintf("[UNKNOWN] %s had started and its end was not seen. It may have had its effect. Do not retry it.", e.Tool)
}

// clause returns the error's text as part of a sentence.
func clause(err error) string { return strings.TrimSuffix(fmt.Sprint(err), ".") }
