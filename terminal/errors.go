package terminal

import (
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
)

// Why an approver asks no more; match with [errors.Is].
var (
	// ErrStopped says that the person ended the run with q. It is a [*StoppedError].
	ErrStopped = errors.New("the run was stopped at a prompt")
	// ErrInterrupted says that the prompt was left without an answer: Ctrl-C, the end of
	// input, a closed terminal, a signal.
	ErrInterrupted = errors.New("the prompt was interrupted")
)

// A StoppedError says at which request the person stopped the run, and why.
type StoppedError struct {
	Request *approval.Request
	Note    string // may be empty
}

func (e *StoppedError) Error() string {
	text := fmt.Sprintf("%v: %s (%s)", ErrStopped, e.Request.Call.Name(), e.Request.Summary)
	if e.Note != "" {
		text += ": " + e.Note
	}
	return text
}

// Is makes the error match [ErrStopped].
func (e *StoppedError) Is(target error) bool { return target == ErrStopped }
