package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

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
		e.Arguments, e.Note, e.Why, e.Error, e.Basis, e.Trace, e.ActData, e.Ran = nil, "", "", "", "", nil, nil, nil
		e.Host, e.Port, e.Program = "", "", "" // the target of its act
		e.Folder = ""
		e.Acts = slices.Clone(e.Acts)
		for i, a := range e.Acts {
			e.Acts[i], _, _ = strings.Cut(a, "(")
		}
		return e
	}
	e.Arguments = loggedArguments(e.Arguments)
	e.Basis, e.Why, e.Note, e.Error, e.Trace = redact.Redact(e.Basis), redact.Redact(e.Why), redact.Redact(e.Note), redact.Redact(e.Error), redactTrace(e.Trace)
	e.Acts = slices.Clone(e.Acts)
	for i, a := range e.Acts {
		e.Acts[i] = redact.Redact(a)
	}
	e.ActData = redactActs(e.ActData)
	e.Ran = slices.Clone(e.Ran)
	for i, command := range e.Ran {
		e.Ran[i] = redact.Redact(command)
	}
	return e
}

func loggedArguments(args json.RawMessage) json.RawMessage {
	if len(args) > maxLogged {
		return json.RawMessage(fmt.Sprintf(`"[%d bytes]"`, len(args)))
	}
	return redact.RedactJSON(args)
}

func redactTrace(t policy.Trace) policy.Trace {
	out := make(policy.Trace, len(t))
	for i, s := range t {
		s.Name, s.Source = redact.Redact(s.Name), redact.Redact(s.Source)
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
		a.Why = redact.Redact(a.Why)
		if text := actText(a); redact.Redact(text) != text {
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
	kept.view = &lazyView{done: true, view: present.View{Kind: present.Text, Content: "The view is not kept after the answer."}}
	kept.Call = cloneCall(r.Call)
	kept.Why, kept.Summary = redact.Redact(r.Why), redact.Redact(r.Summary)
	kept.Call.Arguments, kept.Acts, kept.Trace = loggedArguments(kept.Call.Arguments), redactActs(r.Acts), redactTrace(r.Trace)
	kept.Offers = nil
	if d == DetailNone {
		kept.Call.Arguments, kept.Acts, kept.Trace, kept.Why, kept.Summary = nil, nil, nil, "", "Tool call: "+r.Call.Name()
	}
	return &kept
}

// Keep returns what a record with this detail keeps of the decision.
func (d Decision) Keep(detail Detail) Decision {
	switch detail {
	case DetailFull:
	case DetailNone:
		d.Note, d.Result, d.Arguments, d.Remember.Rules = "", "", nil, nil
	default:
		d.Note, d.Result, d.Arguments = redact.Redact(d.Note), redact.Redact(d.Result), loggedArguments(d.Arguments)
	}
	return d
}
