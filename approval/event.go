package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
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
	// Project is the folder of the project that the call belongs to, if it is known.
	Project string `json:"project,omitempty"`
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
	// Original are the arguments before a person changed them, redacted likewise;
	// OriginalDigest is over them.
	Original       json.RawMessage `json:"original,omitempty"`
	OriginalDigest policy.Digest   `json:"original_digest,omitzero"`
	Fingerprint    policy.Digest   `json:"fingerprint,omitzero"`
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
	// Proof is the person's signature under their answer, if there is one.
	Proof *Proof `json:"proof,omitempty"`
	// Votes are the signed answers of those who decided for a team, and Sponsor is the person behind the agent.
	Votes   []Voted `json:"votes,omitempty"`
	Sponsor string  `json:"sponsor,omitempty"`
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
		Kind: kind, At: at, Session: o.Call.Session, Workers: o.Call.Workers, Project: o.Call.Project, CallID: o.Call.ID,
		Request: o.Request, Connector: o.Call.Connector, Tool: o.Call.Tool,
		Arguments: o.Call.Arguments, ArgumentsDigest: policy.DigestOf(o.Call.Arguments),
		Fingerprint: o.Fingerprint, State: o.State, Stage: o.Stage,
		Rule: o.Rule, Grant: o.Grant, Basis: o.Basis, Requested: o.Asked, Why: o.Why, Trace: o.Trace,
	}
	if o.Original != nil {
		e.Original, e.OriginalDigest = o.Original, policy.DigestOf(o.Original)
	}
	for _, a := range o.Acts {
		e.Acts = append(e.Acts, a.String())
	}
	if kind == EventEnded {
		e.ActData = o.Acts
	}
	if d := o.Decision; d != nil {
		e.By, e.Remembered, e.Note, e.Decided = d.By, d.Remember.Keep, d.Note, d.At
		e.Choice, e.Proof, e.Votes = d.Choice, d.Proof, o.Voted
	} else {
		e.By = policy.Who{Via: o.via()}
	}
	if o.Routing != nil {
		e.Sponsor = o.Routing.Sponsor
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

// A Record is an event as an audit log keeps it: numbered, and bound by hashes
// to the one before.
type Record struct {
	Seq  int64         `json:"seq"`
	Prev policy.Digest `json:"prev"`
	Hash policy.Digest `json:"hash"`
	Event
	// Unended marks a start whose end was not seen.
	Unended bool `json:"unended,omitempty"`
}

// A RecordFilter says which records are wanted. What is zero does not restrict.
type RecordFilter struct {
	Since, Until time.Time // at or after, before
	After        int64     // records with a higher number
	Session      string
	Tool         string         // TOOL or CONNECTOR:TOOL, with * and ?
	Worker       string         // anywhere in the chain of workers
	States       []policy.State // one of these
	Stage        Stage
	Rule         string // id of a rule or grant
	Last         int    // only so many, the newest
}

// An AuditLog keeps events permanently, or as long as its retention says, so that a
// change is noticed.
type AuditLog interface {
	Recorder
	// Records yields records, the oldest first. After an error it ends.
	Records(ctx context.Context, f RecordFilter) iter.Seq2[Record, error]
	// RecordAt returns record number seq, or an error that matches [audit.ErrNoRecord].
	RecordAt(ctx context.Context, seq int64) (Record, error)
	// Seal returns the head of the log. Kept elsewhere, it makes it possible to
	// notice that the log was cut or written anew.
	Seal(ctx context.Context) (audit.Seal, error)
	// Verify reads the whole log and reports what is not as it was recorded.
	Verify(ctx context.Context, seals ...audit.Seal) (audit.Verification, error)
}

// EventPruned is the kind of the event that an audit log records itself when it
// removes what is older than it keeps. Its Basis is the seal of the last record
// that was removed.
const EventPruned EventKind = "pruned"

// A Detail says how much of what calls are about is kept in records. Digests are
// always kept. The zero Detail is [DetailRedacted].
type Detail string

// The details.
const (
	DetailRedacted Detail = "redacted" // all but what looks like a secret
	DetailNone     Detail = "none"     // no arguments, targets, notes, reasons or traces
	DetailFull     Detail = "full"     // everything, secrets too
)

// A DetailRecorder is a [Recorder] that decides itself how much it keeps, with
// [Event.Keep]: it is given events with everything in them. Other recorders are
// given what [DetailRedacted] leaves.
type DetailRecorder interface {
	Recorder
	RecordFull(ctx context.Context, e Event) error
}

// maxLogged is how large arguments are kept in an event. Of larger ones the
// digest says which they were.
const maxLogged = 64 << 10

// Keep returns what a record with this detail keeps of the event.
func (e Event) Keep(d Detail) Event {
	switch d {
	case DetailFull:
		return e
	case DetailNone:
		e.Arguments, e.Original, e.Trace, e.ActData, e.Ran = nil, nil, nil, nil, nil
		e.Note, e.Why, e.Error, e.Basis = "", "", "", ""
		e.Votes = noted(e.Votes, func(string) string { return "" })
		e.Host, e.Port, e.Program = "", "", "" // the target of its act
		e.Folder, e.Project = "", ""
		e.Acts = slices.Clone(e.Acts)
		for i, a := range e.Acts {
			e.Acts[i], _, _ = strings.Cut(a, "(")
		}
		return e
	}
	e.Arguments = loggedArguments(e.Arguments)
	if e.Original != nil {
		e.Original = loggedArguments(e.Original)
	}
	e.Basis, e.Why, e.Note, e.Error = redact.Text(e.Basis), redact.Text(e.Why), redact.Text(e.Note), redact.Text(e.Error)
	e.Votes = noted(e.Votes, redact.Text)
	e.Trace = redactTrace(e.Trace)
	e.Acts = slices.Clone(e.Acts)
	for i, a := range e.Acts {
		e.Acts[i] = redact.Text(a)
	}
	e.ActData = redactActs(e.ActData)
	e.Ran = slices.Clone(e.Ran)
	for i, command := range e.Ran {
		e.Ran[i] = redact.Text(command)
	}
	return e
}

// noted copies votes with other notes.
func noted(votes []Voted, note func(string) string) []Voted {
	votes = slices.Clone(votes)
	for i := range votes {
		votes[i].Note = note(votes[i].Note)
	}
	return votes
}

func loggedArguments(args json.RawMessage) json.RawMessage {
	if len(args) > maxLogged {
		return json.RawMessage(fmt.Sprintf(`"[%d bytes]"`, len(args)))
	}
	return redact.JSON(args)
}

func redactTrace(t policy.Trace) policy.Trace {
	out := make(policy.Trace, len(t))
	for i, s := range t {
		s.Name, s.Source = redact.Text(s.Name), redact.Text(s.Source)
		out[i] = s
	}
	return out
}

// redactActs copies acts. One that names a secret loses its target, so that no
// allow which is tried on it later seems to cover it.
func redactActs(acts []policy.Act) []policy.Act {
	acts = cloneActs(acts)
	for i := range acts {
		a := &acts[i]
		a.Why = redact.Text(a.Why)
		if text := actText(a); redact.Text(text) != text {
			a.Target = policy.Target{Kind: a.Target.Kind, Unknown: true}
		}
	}
	return acts
}

// actText returns everything in an act that may hold a secret.
func actText(a *policy.Act) string {
	return strings.Join(slices.Concat([]string{a.String(), a.Dir}, a.Target.Written, a.Target.Resolved, a.Target.Also, a.Target.Flags), "\n")
}

// Keep returns what a record with this detail keeps of a request that has been
// answered. Its view is kept in full detail only.
func (r *Request) Keep(d Detail) *Request {
	if d == DetailFull {
		return r
	}
	kept := *r
	kept.view = &lazyView{done: true, view: present.View{Kind: present.KindText, Content: "The view is not kept after the answer."}}
	kept.Call = cloneCall(r.Call)
	kept.Why, kept.Summary = redact.Text(r.Why), redact.Text(r.Summary)
	kept.Call.Arguments, kept.Acts, kept.Trace = loggedArguments(kept.Call.Arguments), redactActs(r.Acts), redactTrace(r.Trace)
	kept.Offers, kept.held = nil, nil
	if d == DetailNone {
		kept.Call.Arguments, kept.Acts, kept.Trace, kept.Why, kept.Summary = nil, nil, nil, "", "Tool call: "+r.Call.Name()
	}
	return &kept
}

// Keep returns what a record with this detail keeps of the decision.
func (d Decision) Keep(detail Detail) Decision {
	note := redact.Text
	switch detail {
	case DetailFull:
		return d
	case DetailNone:
		note = func(string) string { return "" }
		d.Note, d.Result, d.Arguments, d.Remember.Rules = "", "", nil, nil
	default:
		d.Note, d.Result, d.Arguments = redact.Text(d.Note), redact.Text(d.Result), loggedArguments(d.Arguments)
	}
	d.Votes = slices.Clone(d.Votes)
	for i := range d.Votes {
		d.Votes[i].Note = note(d.Votes[i].Note)
	}
	return d
}
