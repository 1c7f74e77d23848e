package policy

import (
	"fmt"
	"strings"
)

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
	case StatePending, StateApproved, StateDenied, StateAutoApproved, StateAutoDenied,
		StateSessionApproved, StateModeApproved, StateModeDenied,
		StateAnswered, StateDismissed, StateBlocked, StateFree, StateExpired, StateHandedOver, StateInvalid:
		return true
	}
	return false
}

// A Mode says who answers when nothing remembered does. The zero Mode is
// [ModeAsk], which refuses where nobody can be asked.
type Mode int

// The modes.
const (
	ModeAsk        Mode = iota // the approver
	ModeApproveAll             // yes, except for what only a person may answer
	ModeStrict                 // no
)

var modeWords = map[string]Mode{
	"ask": ModeAsk, "interactive": ModeAsk,
	"approve-all": ModeApproveAll, "approve_all": ModeApproveAll, "auto_approve": ModeApproveAll,
	"strict": ModeStrict, "auto_deny": ModeStrict,
}

// ParseMode reads a mode in any of its spellings.
func ParseMode(word string) (Mode, error) {
	if m, ok := modeWords[strings.ToLower(word)]; ok {
		return m, nil
	}
	return ModeStrict, fmt.Errorf("unknown mode %q: it is ask, approve-all or strict", word)
}

func (m Mode) String() string {
	switch m {
	case ModeAsk:
		return "ask"
	case ModeApproveAll:
		return "approve-all"
	}
	return "strict"
}

// A Step is one thing that was looked at on the way to an answer.
type Step struct {
	// Look is what was looked at: tool, definition, deny, deciders, allow,
	// grant, mode, person, limit.
	Look string `json:"look"`
	// Act is 1 + the index of the act, 0 for the whole call.
	Act int `json:"act,omitempty"`
	// Name is the act or call as rules name it.
	Name string `json:"name,omitempty"`
	// Found is what it said: free, ask, blocked, denied, possibly denied,
	// reserved, covered, open, approved, refused.
	Found string `json:"found"`
	// Source is what is behind it: a rule, a config line, a grant, a default.
	Source string `json:"source,omitempty"`
	// ID is the id of the rule or grant, if it is one.
	ID string `json:"id,omitempty"`
}

// String returns the step as a sentence.
func (s Step) String() string {
	text := s.Look
	if s.Name != "" {
		text += " " + s.Name
	}
	text += ": " + s.Found
	if s.Source != "" {
		text += ", " + s.Source
	}
	if s.ID != "" {
		text += " (" + s.ID + ")"
	}
	return text + "."
}

// A Trace is the path of a decision: each step that was taken, in order.
type Trace []Step

// String returns the trace, a sentence a line.
func (t Trace) String() string {
	var b strings.Builder
	for i, s := range t {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s)
	}
	return b.String()
}

// A tracer collects steps if somebody wants them. Its methods do nothing on a
// nil tracer, so that the fast path pays nothing.
type tracer struct {
	trace Trace
	acts  []Act
}

func (t *tracer) call(look, found, source string) {
	if t != nil {
		t.trace = append(t.trace, Step{Look: look, Found: found, Source: source})
	}
}

func (t *tracer) act(i int, look, found, source, id string) {
	if t != nil {
		t.trace = append(t.trace, Step{Look: look, Act: i + 1, Name: t.acts[i].String(), Found: found, Source: source, ID: id})
	}
}

func (t *tracer) rule(i int, look, found string, r *Rule) {
	if t != nil {
		t.act(i, look, found, r.Origin(), r.ID)
	}
}

func (t *tracer) grant(i int, look, found string, g *Grant) {
	if t != nil {
		t.act(i, look, found, "grant "+g.String(), g.ID)
	}
}
