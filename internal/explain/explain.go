// Package explain says what would happen to a call and why. It runs nothing, asks
// nobody and records nothing.
package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/hosts"
)

// The outcomes of an explanation.
const (
	Allow = "allow" // it would run without a question
	Ask   = "ask"   // somebody would be asked
	Deny  = "deny"  // it would be refused
	// Later is the outcome of an act that nothing is asked about before the call runs, and
	// somebody when it happens.
	Later = "later"
)

// A Call is what is to be explained.
type Call struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// An Answer is what would happen. The zero Answer is not an outcome.
type Answer struct {
	Outcome string `json:"outcome"`
	// Why is the reason in a line.
	Why   string       `json:"why,omitempty"`
	Acts  []Act        `json:"acts"`
	Trace policy.Trace `json:"trace"`
	// Where is where somebody would be asked, if that is known.
	Where string `json:"where,omitempty"`
	// For is the door that would answer so.
	For string `json:"for,omitempty"`
	// Policy says which policy holds where no file speaks, if a person chose one.
	Policy string `json:"policy,omitempty"`
	// Error says why the call cannot be understood; it is denied then.
	Error string `json:"error,omitempty"`
	// Summary is what a person would be told in a line, PersonOnly that no rule
	// and no mode can answer.
	Summary    string `json:"summary,omitempty"`
	PersonOnly bool   `json:"person_only,omitempty"`
	// Held says what the operating system would hold the call to.
	Held []string `json:"held,omitempty"`
	// Hosts are those that a call which may connect reaches freely, those that ask, and those
	// that are denied.
	Hosts []hosts.Word `json:"hosts,omitempty"`
	// Undo is what undo does about a command; empty if nobody looked, or it changes no file.
	Undo string `json:"undo,omitempty"`
}

// An Act is what would happen to one act of the call.
type Act struct {
	Tool    string `json:"tool"`
	Target  string `json:"target"`
	Outcome string `json:"outcome"`
	// Known says whether all that this act would do is understood.
	Known bool   `json:"known"`
	Why   string `json:"why,omitempty"`
}

// An Explainer explains calls of a set of tools under a policy.
type Explainer struct {
	Tools  approval.Preparer
	Policy policy.Policy
	// Team is the team of the machine; nil for none.
	Team approval.Team
	// Project is the folder of the project that the calls belong to.
	Project string
	// Clock tells the time; nil means that of the system.
	Clock func() time.Time
	// For is the door that answers are of; may be empty.
	For string
	// Held has answers say what the operating system holds calls to.
	Held bool
	// Hosts are what answers say about hosts.
	Hosts []hosts.Word
	// Undoing says in a line what undo does about a command, given its arguments. It looks at
	// the files, so it is for one call and not for many. May be nil.
	Undoing func(context.Context, json.RawMessage) string
}

func (e *Explainer) now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock()
}

// Canonical is the call as the gate takes it.
func (c Call) Canonical() (policy.Call, error) {
	args, err := canonical.Arguments(c.Args)
	call := policy.Call{Tool: c.Tool, Arguments: args}
	if connector, name, ok := strings.Cut(c.Tool, ":"); ok {
		call.Connector, call.Tool = connector, name
	}
	return call, err
}

// Explain says what would happen to the call.
func (e *Explainer) Explain(ctx context.Context, c Call) Answer {
	call, err := c.Canonical()
	if err != nil {
		return Failed(err)
	}
	return e.Judge(ctx, call)
}

// Judge says what would happen to a call whose arguments are canonical.
func (e *Explainer) Judge(ctx context.Context, call policy.Call) Answer {
	call.Project = e.Project
	p, err := e.Tools.Prepare(ctx, call)
	if err != nil {
		return Failed(err)
	}
	holds := *e // with what the team reserves now
	if e.Team != nil {
		if holds.Policy.Reserved, err = e.Team.Reserved(); err != nil {
			return Failed(err)
		}
	}
	e = &holds
	q := p.Question(&call, e.now())
	q.Traced = true
	j := e.Policy.Judge(q)
	out := Answer{
		For: e.For, Outcome: outcome(j.State), Why: j.Why, Trace: j.Trace, Summary: p.Summary, PersonOnly: j.PersonOnly,
		Acts: make([]Act, 0, len(p.Acts)),
	}
	if e.Team != nil && out.Outcome == Ask {
		r := &approval.Request{Call: call, Acts: p.Acts, Created: e.now(), Origin: approval.Origin{Agent: e.For}}
		if _, err := e.Team.Route(r); err != nil {
			out.Outcome, out.Why = Deny, err.Error()
		}
	}
	if e.Held && p.Held != nil && out.Outcome != Deny {
		out.Held = p.Held()
	}
	for i := range p.Acts {
		one := act(&p.Acts[i], i, &j)
		if one.Outcome == Allow && e.asksLater(&call, &p, i) {
			one.Outcome, one.Why = Later, "asked when the command connects: "+one.Why
		}
		out.Acts = append(out.Acts, one)
	}
	if out.Outcome != Deny && slices.ContainsFunc(p.Acts, mayConnect) {
		out.Hosts = e.Hosts
	}
	return out
}

// asksLater reports whether somebody is asked about an act when it happens.
func (e *Explainer) asksLater(call *policy.Call, p *approval.Proposal, i int) bool {
	a := p.Acts[i]
	if !a.Later || a.Verdict != policy.VerdictAsk {
		return false
	}
	a.Later, a.Cause = false, 0
	alone := *p
	alone.Acts = []policy.Act{a}
	return !e.Policy.Judge(alone.Question(call, e.now())).State.Runs()
}

// mayConnect reports whether an act is a connection, or may make one that is not known.
func mayConnect(a policy.Act) bool {
	return a.Name == policy.ActConnect || a.Name == policy.ActShell && (!a.Known || a.Opaque || a.Project != "")
}

// Failed is the answer to a call that cannot be understood.
func Failed(err error) Answer {
	return Answer{Outcome: Deny, Error: err.Error(), Acts: []Act{}, Trace: policy.Trace{}}
}

func outcome(s policy.State) string {
	switch {
	case s.Runs():
		return Allow
	case s == policy.StatePending:
		return Ask
	}
	return Deny
}

func act(a *policy.Act, i int, j *policy.Judgement) Act {
	name := a.Name
	if a.Connector != "" {
		name = a.Connector + ":" + a.Name
	}
	out := Act{Tool: name, Target: a.Target.String(), Known: a.Known, Why: a.Why, Outcome: Allow}
	switch {
	case a.Verdict == policy.VerdictBlock, j.State == policy.StateAutoDenied && j.Act == i+1:
		out.Outcome = Deny
	case slices.Contains(j.Open, i), outcome(j.State) == Deny && a.Verdict != policy.VerdictFree:
		out.Outcome = Ask
	}
	if j.State == policy.StateAutoDenied && j.Act == i+1 && j.Rule != nil {
		out.Why = "denied by " + j.Rule.String()
	}
	return out
}

// Denied reports whether a rule denies the act on its own: what lists, searches
// and commands with many files ask.
func (e *Explainer) Denied(_ context.Context, a policy.Act) bool {
	meets, _ := e.Policy.Denies(policy.Call{Project: e.Project}, a, e.now())
	return meets == policy.MatchYes
}

// Print prints the answer for a person. Agent is the title of the agent whose answer it is, if it
// is one's.
func (a Answer) Print(w io.Writer, agent string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", a.verdict(agent))
	for _, act := range a.Acts {
		name := act.Tool
		if act.Target != "" {
			name += "(" + act.Target + ")"
		}
		fmt.Fprintf(&b, "  %-5s %s\n", act.Outcome, present.SafeLine(name))
		if act.Why != "" {
			fmt.Fprintf(&b, "        %s\n", present.SafeLine(act.Why))
		}
	}
	if len(a.Held) > 0 {
		b.WriteString("\nWhat the operating system holds it to:\n")
		for _, line := range a.Held {
			fmt.Fprintf(&b, "  %s\n", present.SafeLine(line))
		}
	}
	if len(a.Hosts) > 0 {
		b.WriteString("\nHosts:\n")
		for _, h := range a.Hosts {
			fmt.Fprintf(&b, "  %-7s %s (%s)\n", h.Word, present.SafeLine(h.Hosts), present.SafeLine(h.Source))
		}
	}
	if a.Undo != "" {
		fmt.Fprintf(&b, "Undo: %s.\n", present.SafeLine(a.Undo))
	}
	if a.Policy != "" {
		fmt.Fprintf(&b, "Policy: %s.\n", present.SafeLine(a.Policy))
	}
	if len(a.Trace) > 0 {
		b.WriteString("\nHow it was decided:\n")
		for i, s := range a.Trace {
			fmt.Fprintf(&b, "  %d. %s\n", i+1, present.SafeLine(s.String()))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// outcomes say an outcome in a sentence.
var outcomes = map[string]string{
	Allow: "it would run without a question", Ask: "it would ask", Deny: "it would be refused",
}

func (a Answer) verdict(agent string) string {
	text := "I" + outcomes[a.Outcome][1:]
	if agent != "" {
		text = agent + ": " + outcomes[a.Outcome]
	}
	if a.Where != "" {
		text += " " + a.Where
	}
	if a.PersonOnly {
		text += ", and only a person may answer"
	}
	if a.Error != "" {
		return text + ": " + present.SafeLine(a.Error) + "."
	}
	if a.Why != "" {
		return text + ": " + present.SafeLine(a.Why) + "."
	}
	return text + "."
}
