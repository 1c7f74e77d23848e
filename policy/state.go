package policy

// A State says how a call was answered. The zero State is no answer, and
// nothing runs on it.
type State string

// The states of an answer.
const (
	StatePending         State = "pending"
	StateApproved        State = "approved"         // by a person
	StateDenied          State = "denied"           // by a person, or because nobody could be asked
	StateAutoApproved    State = "auto-approved"    // by a rule
	StateAutoDenied      State = "auto-denied"      // by a rule, or a denial of this session
	StateSessionApproved State = "session-approved" // by a grant
	StateModeApproved    State = "mode-approved"    // by approve-all
	StateModeDenied      State = "mode-denied"      // by strict
	StateAnswered        State = "answered"         // a person gave the result; nothing ran
	StateDismissed       State = "dismissed"        // the question was closed without an answer
	StateBlocked         State = "blocked"          // by policy; nobody could approve it
	StateFree            State = "free"             // no answer was needed
	StateExpired         State = "expired"          // nobody answered in time
	StateHandedOver      State = "handed-over"      // another agent's own prompt answers
	StateInvalid         State = "invalid"          // the call could not be understood
)

// Runs reports whether a call that was answered so may run.
func (s State) Runs() bool {
	switch s {
	case StateApproved, StateAutoApproved, StateSessionApproved, StateModeApproved, StateFree:
		return true
	}
	return false
}

// Settled reports whether the state is a final answer.
func (s State) Settled() bool { return s != StatePending && s != "" }

// Known reports whether the state is one of the above.
func (s State) Known() bool {
	switch s {
	case StatePending, StateApproved, StateDenied, StateAutoApproved, StateAutoDenied, StateSessionApproved, StateModeApproved, StateModeDenied,
		StateAnswered, StateDismissed, StateBlocked, StateFree, StateExpired, StateHandedOver, StateInvalid:
		return true
	}
	return false
}
