package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// A Moment is when a hook is called. The zero Moment is none.
type Moment string

// The moments.
const (
	Before Moment = "before" // a tool is about to run
	Asking Moment = "asking" // the agent is about to ask its user
	After  Moment = "after"  // a tool has run
	Ending Moment = "ending" // the session ends
)

// Decides reports whether what the hook answers decides about a call.
func (m Moment) Decides() bool { return m == Before || m == Asking }

// An Event is what an agent says to a hook.
type Event struct {
	// Hook is the agent's own name for the moment.
	Hook   string
	Moment Moment
	// Session is the agent's session. CallID is the id of the call, if the agent tells.
	Session, CallID string
	// Dir is the folder that the call runs in. It moves during a session. Empty means that it is
	// one of the Project, and which one is not known.
	Dir string
	// Project is the folder of the project, if the event names it.
	Project string
	// Tool and Input are the call as the agent names it.
	Tool  string
	Input json.RawMessage
	// Server is the MCP server that a tool belongs to, if the agent tells.
	Server string
	// Unasked says that the agent was told to ask its user nothing.
	Unasked bool
	// Unknown says that the agent is in a mode of which nobody tried what becomes of a question
	// that a hook leaves to it.
	Unknown bool
	// Plan says that the agent is in a mode that changes nothing, and Edits that its user accepts edits of the
	// project without being asked.
	Plan, Edits bool
}

// check reports what an event lacks.
func (e *Event) check() error {
	if e.Session == "" {
		return errors.New("the session has no id")
	}
	if e.Moment == Ending {
		return nil
	}
	if dir := cmp.Or(e.Dir, e.Project); !filepath.IsAbs(dir) {
		return fmt.Errorf("the working folder %q is not an absolute path", dir)
	}
	if e.Tool == "" {
		return errors.New("the call names no tool")
	}
	return nil
}

// A Verdict is what an agent is told. The zero Verdict denies.
type Verdict int

// The verdicts.
const (
	Deny    Verdict = iota
	Ask             // the agent's own prompt
	Allow           //
	Nothing         // no opinion: what the agent would do without us
	Defer           // the run ends, and asks again when it is resumed
)

// An Answer is what an agent is told about a call.
type Answer struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"`
	// Input, with Allow, replaces the arguments, because a person changed them.
	Input json.RawMessage `json:"input,omitempty"`
}

// A Reply is how a hook ends.
type Reply struct {
	Stdout []byte
	Stderr string
	Exit   int
}

// exitBlock is the status that every one of these agents takes for a no.
const exitBlock = 2

// Blocked is the reply that blocks the call whatever went wrong.
func Blocked(why string) Reply { return Reply{Stderr: "assent: " + why + "\n", Exit: exitBlock} }

// printed returns the reply with a value as JSON.
func printed(v any) Reply {
	data, err := json.Marshal(v)
	if err != nil {
		return Blocked("the answer cannot be written: " + err.Error())
	}
	return Reply{Stdout: append(data, '\n')}
}
