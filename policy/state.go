package policy

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

// Known reports whether the state is one of the above.
func (s State) Known() bool {
	switch s {
	case Pending, Approved, Denied, AutoApproved, AutoDenied, SessionApproved, ModeApproved, ModeDenied,
		Answered, Dismissed, Blocked, FreeToRun, Expired, HandedOver, Invalid:
		return true
	}
	return false
}
