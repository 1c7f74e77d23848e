package approval

import (
	"context"
	"encoding/json"
	"time"

	"github.com/assent-dev/assent/policy"
)

// A Recorder keeps events. An error from it refuses the call: nothing runs that
// cannot be recorded.
type Recorder interface {
	Record(ctx context.Context, e Event) error
}

// An EventKind says what an event reports.
type EventKind string

// The kinds. Every call has an ended event; one that runs has a started event
// before it, so that a start without an end is a call whose fate is unknown.
const (
	EventStarted EventKind = "started"
	EventEnded   EventKind = "ended"
	// EventConfined reports what a sandbox refused to a call that ran, or that the call
	// was let out of it; Why says what. It stands between start and end.
	EventConfined EventKind = "sandbox"
	// EventUnexpected reports that a call was about to do something that its judgement did not
	// foresee; Why says what. It stands between start and end; how that was answered is
	// in the events of a call of its own.
	EventUnexpected EventKind = "unexpected"
	// EventTripped reports that the operating system seems to have refused something to a call
	// that its judgement did not foresee and its sandbox would otherwise allow; Why says what.
	EventTripped EventKind = "tripped"
	// EventConnected reports a connection of a call that ended or was refused: Host and Port say to
	// where, State and Basis by what it was let through, and Error why it was refused or
	// failed. A process that outlives its call may have it after the end.
	EventConnected EventKind = "connected"
)

// An Event is what happened to a call, ready for an audit log. Unless a recorder
// asks for more, secret-looking values in arguments, notes and reasons are
// redacted; the digests are over the real ones. See [Event.Keep].
type Event struct {
	Kind    EventKind `json:"kind"`
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	Workers []string  `json:"workers,omitempty"`
	// Folder is the folder that the call came from, if another agent runs it.
	Folder    string   `json:"folder,omitempty"`
	CallID    string   `json:"call"`
	Request   string   `json:"request,omitempty"`
	Connector string   `json:"connector,omitempty"`
	Tool      string   `json:"tool"`
	Acts      []string `json:"acts,omitempty"`
	// ActData are the acts as data, so that rules can be tried on them later;
	// only for ended.
	ActData []policy.Act `json:"act_data,omitempty"`
	// Arguments are redacted; ArgumentsDigest is over the canonical ones.
	Arguments       json.RawMessage `json:"arguments,omitempty"`
	ArgumentsDigest policy.Digest   `json:"arguments_digest"`
	// OriginalDigest is over the arguments before a person changed them.
	OriginalDigest policy.Digest `json:"original_digest,omitzero"`
	Fingerprint    policy.Digest `json:"fingerprint,omitzero"`
	// Profile is the digest of what the call was held to, Sandbox by what: a name,
	// or "none" and why.
	Profile policy.Digest `json:"profile,omitzero"`
	Sandbox string        `json:"sandbox,omitempty"`
	State   policy.State  `json:"state"`
	Stage   Stage         `json:"stage"`
	// Rule, Grant and Basis say by what it was decided, By and Via by whom.
	Rule       string     `json:"rule,omitempty"`
	Grant      string     `json:"grant,omitempty"`
	Basis      string     `json:"basis,omitempty"`
	By         policy.Who `json:"by,omitzero"`
	Remembered Keep       `json:"remembered,omitempty"`
	Choice     string     `json:"choice,omitempty"`
	Why        string     `json:"why,omitempty"`
	Note       string     `json:"note,omitempty"`
	// Requested and Decided are when the person was asked and answered.
	Requested time.Time `json:"requested,omitzero"`
	Decided   time.Time `json:"decided,omitzero"`
	// Duration is how long the call ran; only for ended and connected.
	Duration time.Duration `json:"duration,omitempty"`
	// Host and Port are where a connection went, Program what made it, and Sent and Received
	// the bytes to and from there; only for connected, whose Duration is that of the connection.
	Host     string `json:"host,omitempty"`
	Port     string `json:"port,omitempty"`
	Program  string `json:"program,omitempty"`
	Sent     int64  `json:"sent,omitempty"`
	Received int64  `json:"received,omitempty"`
	// Ran are the programs that the call started, as far as they were kept; only for ended.
	Ran []string `json:"ran,omitempty"`
	// Error is why the call failed, redacted.
	Error string       `json:"error,omitempty"`
	Trace policy.Trace `json:"trace,omitempty"`
}

// event describes an outcome, with everything in it.
func (o *Outcome) event(kind EventKind, at time.Time) Event {
	e := Event{
		Kind: kind, At: at, Session: o.Call.Session, Workers: o.Call.Workers, CallID: o.Call.ID,
		Request: o.Request, Connector: o.Call.Connector, Tool: o.Call.Tool,
		Arguments: o.Call.Arguments, ArgumentsDigest: policy.DigestOf(o.Call.Arguments),
		Fingerprint: o.Fingerprint, State: o.State, Stage: o.Stage,
		Rule: o.Rule, Grant: o.Grant, Basis: o.Basis, Requested: o.Asked, Why: o.Why, Trace: o.Trace,
	}
	if o.Original != nil {
		e.OriginalDigest = policy.DigestOf(o.Original)
	}
	for _, a := range o.Acts {
		e.Acts = append(e.Acts, a.String())
	}
	if kind == EventEnded {
		e.ActData = o.Acts
	}
	if d := o.Decision; d != nil {
		e.By, e.Remembered, e.Note, e.Decided = d.By, d.Remember.Keep, d.Note, d.At
		e.Choice = d.Choice
	} else {
		e.By = policy.Who{Via: o.via()}
	}
	return e
}

func (o *Outcome) via() policy.Via {
	switch o.State {
	case policy.StateAutoApproved, policy.StateAutoDenied:
		if o.Grant != "" {
			return policy.ViaGrant
		}
		return policy.ViaRule
	case policy.StateSessionApproved:
		return policy.ViaGrant
	case policy.StateModeApproved, policy.StateModeDenied:
		return policy.ViaMode
	}
	return ""
}
