package approval

import (
	"fmt"

	"github.com/assent-dev/assent/policy"
)

// A Stage is how far a call has come; its [policy.State] says how it was answered. The zero Stage
// is none.
type Stage string

// The stages of a call.
const (
	StageWaiting   Stage = "waiting" // for an answer
	StageReady     Stage = "ready"   // it may run
	StageRefused   Stage = "refused" // it does not run; the state says by what
	StageExecuting Stage = "executing"
	StageCompleted Stage = "completed"
	StageFailed    Stage = "failed"
	StageCancelled Stage = "cancelled"
	StageSuspended Stage = "suspended" // its body is a child run that waits
	StageUnknown   Stage = "unknown"   // started, end not seen; never repeated
	StageReleased  Stage = "released"  // handed to a program that runs it itself
)

// transitions lists where a call can go from each stage. Going back to waiting
// means that it is judged again, because what was shown no longer holds; nothing
// has been done then.
var transitions = map[Stage][]Stage{
	StageWaiting:   {StageReady, StageRefused, StageCompleted, StageFailed, StageCancelled, StageReleased},
	StageReady:     {StageExecuting, StageRefused, StageCancelled, StageReleased, StageWaiting},
	StageExecuting: {StageCompleted, StageFailed, StageCancelled, StageSuspended, StageUnknown, StageWaiting},
	StageSuspended: {StageExecuting, StageCancelled, StageUnknown},
}

// A TransitionError reports a step that a call cannot take.
type TransitionError struct{ From, To Stage }

func (e *TransitionError) Error() string {
	return fmt.Sprintf("a call that is %s cannot become %s", orNone(e.From), orNone(e.To))
}

func orNone(s Stage) string {
	if s == "" {
		return "nothing yet"
	}
	return string(s)
}

// Advance returns the stage after the step from one stage to another, or from
// unchanged and a [*TransitionError] if there is no such step.
func Advance(from, to Stage) (Stage, error) {
	for _, next := range transitions[from] {
		if next == to {
			return to, nil
		}
	}
	return from, &TransitionError{From: from, To: to}
}

// Final reports whether a call never leaves the stage.
func (s Stage) Final() bool { return s != "" && len(transitions[s]) == 0 }

// StageAfter returns where a call is right after it was answered so.
func StageAfter(s policy.State) Stage {
	switch s {
	case policy.StatePending:
		return StageWaiting
	case policy.StateAnswered:
		return StageCompleted
	case policy.StateHandedOver:
		return StageReleased
	case policy.StateInvalid:
		return StageFailed
	}
	if s.Runs() {
		return StageReady
	}
	return StageRefused
}
