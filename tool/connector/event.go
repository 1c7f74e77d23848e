package connector

import (
	"fmt"

	"github.com/assent-dev/assent/present"
)

// An EventKind says what happened to a connector.
type EventKind string

// The kinds.
const (
	EventConnected    EventKind = "connected"    // its tools can be called
	EventDisconnected EventKind = "disconnected" // its calls are refused until it is back
	EventListed       EventKind = "listed"       // what it offers is not what it was
	EventDoubted      EventKind = "doubted"      // a tool is not as it was agreed to
	EventAgreed       EventKind = "agreed"       // a person agreed to a tool as it is now
	EventMisbehaved   EventKind = "misbehaved"   // it said something that cannot be used
)

// An Event is something that happened to a connector.
type Event struct {
	Connector string
	Kind      EventKind
	// Tool is the tool that it is about, if it is about one.
	Tool string
	// Text says what happened. Parts of it may be the server's own words.
	Text string
}

// String returns the event in one line that is safe to print.
func (e Event) String() string {
	name := e.Connector
	if e.Tool != "" {
		name += ":" + e.Tool
	}
	return present.SafeLine(fmt.Sprintf("connector %s %s: %s", name, e.Kind, e.Text))
}

// A NotConnectedError says that a connector is not there, so that its calls are refused.
type NotConnectedError struct {
	Connector string
	Err       error // why
}

func (e *NotConnectedError) Error() string {
	return fmt.Sprintf("connector %s is not connected: %v; it is tried again by itself, other tools go on",
		e.Connector, e.Err)
}

func (e *NotConnectedError) Unwrap() error { return e.Err }
