package approval

import "fmt"

// A State says how a call was answered. The zero State is no answer, and
// nothing runs on it.
type State string

// The states of an answer.
const (
	Pending         State = "pending"
	Approved        State = "approved"         // by a person
	Denied          State = "denied"           // by a person, or because nobody could be asked
	AutoApproved    State = "auto-approved"    // by a rule
	AutoDenied      State = "auto-denied"      // by a rule, or a denial of this session
	SessionApproved State = "session-approved" // by a grant
	ModeApproved    State = "mode-approved"    // by approve-all
	ModeDenied      State = "mode-denied"      // by strict
	Answered        State = "answered"         // a person gave the result; nothing ran
	Dismissed       State = "dismissed"        // the question was closed without an answer
	Blocked         State = "blocked"          // by policy; nobody could approve it
	FreeToRun       State = "free"             // no answer was needed
	Expired         State = "expired"          // nobody answered in time
	HandedOver      State = "handed-over"      // another agent's own prompt answers
	Invalid         State = "invalid"          // the call could not be understood
)

// Runs reports whether a call that was answered so may run.
func (s State) Runs() bool {
	switch s {
	case Approved, AutoApproved, SessionApproved, ModeApproved, FreeToRun:
		return true
	}
	return false
}

// Settled reports whether the state is a final answer.
func (s State) Settled() bool { return s != Pending && s != "" }

// A Stage is where a call is on its way. The zero Stage is none.
type Stage string

// The stages of a call.
const (
	StagePending   Stage = "pending"
	StageApproved  Stage = "approved"
	StageDenied    Stage = "denied"
	StageDismissed Stage = "dismissed"
	StageBlocked   Stage = "blocked"
	StageExecuting Stage = "executing"
	StageCompleted Stage = "completed"
	StageFailed    Stage = "failed"
	StageCancelled Stage = "cancelled"
	StageSuspended Stage = "suspended" // its body is a child run that waits
	StageUnknown   Stage = "unknown"   // started, end not seen; never repeated
	StageReleased  Stage = "released"  // handed to a program that runs it itself
)

// transitions lists where a call can go from each stage. Going back to pending
// means that it is judged again, because what was shown no longer holds; nothing
// has been done then.
var transitions = map[Stage][]Stage{
	StagePending: {StageApproved, StageDenied, StageDismissed, StageBlocked, StageCompleted, StageFailed,
		StageCancelled, StageReleased},
	StageApproved:  {StageExecuting, StageDenied, StageCancelled, StageReleased, StagePending},
	StageExecuting: {StageCompleted, StageFailed, StageCancelled, StageSuspended, StageUnknown, StagePending},
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

// Stage returns where a call is right after it was answered so.
func (s State) Stage() Stage {
	switch s {
	case Pending:
		return StagePending
	case Dismissed:
		return StageDismissed
	case Blocked:
		return StageBlocked
	case Answered:
		return StageCompleted
	case HandedOver:
		return StageReleased
	case Invalid:
		return StageFailed
	}
	if s.Runs() {
		return StageApproved
	}
	return StageDenied
}

var knownStates = map[State]struct{}{
	Pending: {}, Approved: {}, Denied: {}, AutoApproved: {}, AutoDenied: {}, SessionApproved: {},
	ModeApproved: {}, ModeDenied: {}, Answered: {}, Dismissed: {}, Blocked: {}, FreeToRun: {},
	Expired: {}, HandedOver: {}, Invalid: {},
}
