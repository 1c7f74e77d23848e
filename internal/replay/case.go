package replay

import (
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// An Outcome is what happens to a call.
type Outcome string

// The outcomes.
const (
	Allow Outcome = "allow" // it runs without a question
	Ask   Outcome = "ask"   // somebody is asked
	Deny  Outcome = "deny"  // it is refused
)

// A Case is a call to try rules on.
type Case struct {
	// Seq is the number of the record that it comes from, 0 for none.
	Seq  int64
	Call policy.Call
	Acts []policy.Act
	// State is how it was answered; empty if it never was.
	State policy.State
	// Asked says that a person was asked, Fixed that a rule of a config file decided.
	Asked, Fixed bool
}

// FromRecord makes a case of the end of a call. It is false for a record that is no end,
// or has no acts to try rules on.
func FromRecord(r *approval.Record) (Case, bool) {
	c := Case{
		Seq:  r.Seq,
		Call: policy.Call{ID: r.CallID, Connector: r.Connector, Tool: r.Tool, Arguments: r.Arguments, Session: r.Session, Workers: r.Workers},
		Acts: r.ActData, State: r.State, Asked: !r.Requested.IsZero(),
		// The rules of a file go by their place in it.
		Fixed: r.Rule != "" && strings.HasSuffix(r.Basis, " at "+r.Rule),
	}
	return c, r.Kind == approval.EventEnded && len(r.ActData) > 0
}

// Name says what the call would do.
func (c *Case) Name() string {
	names := make([]string, len(c.Acts))
	for i, a := range c.Acts {
		names[i] = a.String()
	}
	return strings.Join(names, " + ")
}

// Refused reports whether somebody or something said no: a person, who also does so by
// closing the question, giving the result, or not answering in time; or a rule. What
// strict mode refuses nobody looked at.
func (c *Case) Refused() bool {
	switch c.State {
	case policy.StateDenied, policy.StateDismissed, policy.StateExpired, policy.StateAnswered, policy.StateAutoDenied, policy.StateBlocked:
		return true
	}
	return false
}

// recorded is what happened then.
func (c *Case) recorded() Outcome {
	switch {
	case c.State == "":
		return Ask
	case c.Asked:
		return Ask
	case c.State.Runs():
		return Allow
	}
	return Deny
}

// under is what happens under a policy. Where it leaves the answer open, what answered then
// answers again: a grant, a mode, a rule of a config file.
func (c *Case) under(p policy.Policy, when policy.Question) Outcome {
	p.Mode = policy.ModeAsk
	when.Call, when.Acts = &c.Call, c.Acts
	switch j := p.Judge(when); {
	case c.Fixed && p.Fixed == nil && c.State == policy.StateAutoDenied:
		return Deny // a deny of the file holds, whatever the other rules say
	case j.State.Runs():
		return Allow
	case j.State != policy.StatePending:
		return Deny
	case j.PersonOnly, c.Asked, c.State == "":
		return Ask
	}
	switch c.State {
	case policy.StateSessionApproved, policy.StateModeApproved:
		return Allow
	case policy.StateModeDenied:
		return Deny
	case policy.StateAutoApproved, policy.StateAutoDenied:
		if c.Fixed && p.Fixed == nil {
			return c.recorded()
		}
	}
	return Ask
}
