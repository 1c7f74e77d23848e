package approval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
)

// An Outcome is how a call was answered. The zero Outcome refuses.
type Outcome struct {
	// Call is the call, with its canonical arguments; after a change by a
	// person, the changed ones.
	Call        policy.Call   `json:"call"`
	Request     string        `json:"request,omitempty"`
	Fingerprint policy.Digest `json:"fingerprint,omitzero"`
	// Asked is when the request was made.
	Asked time.Time    `json:"asked,omitzero"`
	State policy.State `json:"state"`
	Stage Stage        `json:"stage"`
	// PersonOnly says that nothing remembered and no mode may answer.
	PersonOnly bool `json:"person_only,omitempty"`
	// Rule and Grant are the ids of what decided, if one did, and Basis is its
	// text.
	Rule  string `json:"rule,omitempty"`
	Grant string `json:"grant,omitempty"`
	Basis string `json:"basis,omitempty"`
	// Why is the reason, for the person and the model.
	Why string `json:"why,omitempty"`
	// Decision is the answer of a person or program, if there was one.
	Decision *Decision `json:"decision,omitempty"`
	// Routing says who decides, if it was asked on a machine of a team, and Voted whose votes did.
	Routing *Routing `json:"routing,omitempty"`
	Voted   []Voted  `json:"voted,omitempty"`
	// Original are the arguments that the model sent, if a person changed them.
	Original json.RawMessage `json:"original,omitempty"`
	Acts     []policy.Act    `json:"acts,omitempty"`
	Trace    policy.Trace    `json:"trace,omitempty"`

	err   error
	shown policy.Digest // what those who voted saw; zero after a restart
}

// Runs reports whether the call may run.
func (o Outcome) Runs() bool { return o.State.Runs() }

// Note returns the comment of the person who answered.
func (o Outcome) Note() string {
	if o.Decision == nil {
		return ""
	}
	return o.Decision.Note
}

// The sentinels of calls that do not run; match with [errors.Is].
var (
	ErrBlocked = errors.New("blocked by policy")
	ErrDenied  = errors.New("denied")
	ErrInvalid = errors.New("the call cannot be understood")
	ErrOpen    = errors.New("waiting for an answer")
)

// A BlockedError reports a call that policy refuses; nobody was asked.
type BlockedError struct {
	Tool string
	Why  string
}

func (e *BlockedError) Error() string { return fmt.Sprintf("%s is blocked: %s", e.Tool, e.Why) }

// Is makes the error match [ErrBlocked].
func (e *BlockedError) Is(target error) bool { return target == ErrBlocked }

// ForModel returns what the model is told.
func (e *BlockedError) ForModel() string {
	return fmt.Sprintf("[BLOCKED] %s did not run. Policy forbids it and nobody can approve it: %s. Do not retry it; find another way.",
		e.Tool, strings.TrimSuffix(e.Why, "."))
}

// A DeniedError reports a call that was refused: by a person, a rule, a mode,
// silence, or because nobody could be asked.
type DeniedError struct {
	Tool  string
	State policy.State
	Why   string // what refused it
	Note  string // what the person said
}

func (e *DeniedError) Error() string {
	text := e.Tool + " was denied"
	if e.Why != "" {
		text += ": " + e.Why
	}
	if e.Note != "" {
		text += ": " + e.Note
	}
	return text
}

// Is makes the error match [ErrDenied].
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// ForModel returns what the model is told.
func (e *DeniedError) ForModel() string {
	text := fmt.Sprintf("[DENIED] %s did not run; nothing was changed.", e.Tool)
	if e.Why != "" {
		text += " Reason: " + strings.TrimSuffix(e.Why, ".") + "."
	}
	if e.Note != "" {
		text += " The person said: " + e.Note
		if !strings.HasSuffix(e.Note, ".") {
			text += "."
		}
	}
	return text + " Do not retry the same call unless you are told to."
}

// An InvalidError reports a call that cannot be understood: an unknown tool or
// bad arguments. Nobody was asked and nothing ran.
type InvalidError struct {
	Tool string
	Err  error
}

func (e *InvalidError) Error() string { return fmt.Sprintf("call of %s: %v", orNoName(e.Tool), e.Err) }

// Is makes the error match [ErrInvalid].
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

func (e *InvalidError) Unwrap() error { return e.Err }

// ForModel returns what the model is told.
func (e *InvalidError) ForModel() string {
	return fmt.Sprintf("[ERROR] %s did not run: %v. Correct the call and try again.", orNoName(e.Tool), e.Err)
}

func orNoName(tool string) string {
	if tool == "" {
		return "a tool without a name"
	}
	return tool
}

// Err returns nil if the call may run or was answered by a person, [ErrOpen] if
// it waits, and otherwise a [*BlockedError], [*DeniedError] or [*InvalidError].
func (o Outcome) Err() error {
	switch {
	case o.State.Runs(), o.State == policy.StateAnswered, o.State == policy.StateHandedOver:
		return nil
	case o.State == policy.StatePending:
		return fmt.Errorf("%s: %w", o.Call.Name(), ErrOpen)
	case o.State == policy.StateBlocked:
		return &BlockedError{Tool: o.Call.Name(), Why: o.Why}
	case o.State == policy.StateInvalid:
		err := o.err
		if err == nil {
			err = errors.New(o.Why)
		}
		return &InvalidError{Tool: o.Call.Name(), Err: err}
	}
	return &DeniedError{Tool: o.Call.Name(), State: o.State, Why: o.refusal(), Note: o.Note()}
}

// refusal says what refused the call.
func (o *Outcome) refusal() string {
	switch o.State {
	case policy.StateAutoDenied:
		text := "policy, " + o.Basis
		if o.Why != "" {
			text += ": " + o.Why
		}
		return text
	case policy.StateDismissed:
		return "the question was dismissed without an answer"
	case policy.StateExpired:
		return cmp.Or(o.Why, errTimedOut.Error())
	case policy.StateDenied:
		if o.Why == "" {
			return "a person said no"
		}
	}
	return o.Why
}

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

// A transitionError reports a step that a call cannot take.
type transitionError struct{ From, To Stage }

func (e *transitionError) Error() string {
	return fmt.Sprintf("a call that is %s cannot become %s", orNone(e.From), orNone(e.To))
}

func orNone(s Stage) string {
	if s == "" {
		return "nothing yet"
	}
	return string(s)
}

// advance returns the stage after the step from one stage to another, or from
// unchanged and a [*transitionError] if there is no such step.
func advance(from, to Stage) (Stage, error) {
	for _, next := range transitions[from] {
		if next == to {
			return to, nil
		}
	}
	return from, &transitionError{From: from, To: to}
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
