package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/policy"
)

// An Answer is what a decision says. The zero Answer refuses.
type Answer string

// The answers.
const (
	AnswerNone    Answer = ""        // counts as a denial
	AnswerApprove Answer = "approve" // run it
	AnswerDeny    Answer = "deny"    // do not run it; the note tells the model why
	AnswerRespond Answer = "respond" // do not run it; the person gives the result
	AnswerDismiss Answer = "dismiss" // the question was closed without an answer
	AnswerExpire  Answer = "expire"  // nobody answered in time
)

// Keep says how long an answer is remembered.
type Keep string

// How long. The zero Keep is [KeepNone].
const (
	KeepNone    Keep = ""        // this once
	KeepSession Keep = "session" // until the session ends: a grant
	KeepAlways  Keep = "always"  // forever: a rule
)

// Remember says what an answer means for later calls.
type Remember struct {
	Keep Keep `json:"keep,omitempty"`
	// Reach says how far the answer goes; zero means exactly these acts.
	Reach policy.Reach `json:"reach,omitempty"`
	// For ends a grant or rule after this time; zero means never.
	For time.Duration `json:"for,omitempty"`
	// Shared lets workers that are called from here use the grant too.
	Shared bool `json:"shared,omitempty"`
	// Everywhere has the rules hold in every project; otherwise they are for that of the call.
	Everywhere bool `json:"everywhere,omitempty"`
	// Rules are the rules to save with KeepAlways, in text form. Empty means
	// those that the request offers for Reach. Together they must cover the
	// call.
	Rules []string `json:"rules,omitempty"`
}

// Where is the scope of the rules that are saved with an answer to r, for a person.
func (m Remember) Where(r *Request) string {
	if m.Everywhere {
		return policy.Everywhere
	}
	return policy.Where(r.Call.Project)
}

// A Decision answers one request, once. It is bound to the request's
// fingerprint; for anything else it has no effect. Build it with the methods of
// [Request].
type Decision struct {
	Request string `json:"request"`
	// Call is the id of the call, for a program that knows only that. It counts
	// if Request is empty.
	Call        string        `json:"call,omitempty"`
	Fingerprint policy.Digest `json:"fingerprint"`
	Answer      Answer        `json:"answer"`
	// Note is a comment that reaches the model, on a yes as well as on a no.
	Note string `json:"note,omitempty"`
	// Arguments, on an approval, replace those of the call. The changed call is
	// judged from the start. If Fingerprint is that of the changed call, the
	// decision is its yes; otherwise the person is shown the changed call.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Result, with Respond, is the tool's result in the person's words.
	Result string `json:"result,omitempty"`
	// Choice is one of the request's further choices.
	Choice string `json:"choice,omitempty"`
	// Stop asks the run to end with this answer, if it is not a yes.
	Stop     bool       `json:"stop,omitempty"`
	Remember Remember   `json:"remember,omitzero"`
	By       policy.Who `json:"by,omitzero"`
	At       time.Time  `json:"at,omitzero"`
	// Proof shows that a person gave the answer, where that must be shown.
	Proof *Proof `json:"proof,omitempty"`
	// Votes, with [policy.ViaTeam], are the signed answers of those who decided.
	Votes []Vote `json:"votes,omitempty"`
}

// Why a decision had no effect; match with [errors.Is].
var (
	ErrUnknownRequest  = errors.New("no such request")
	ErrSettled         = errors.New("the request was answered already")
	ErrWrongCall       = errors.New("the answer is for a different call (its fingerprint differs)")
	ErrInvalidDecision = errors.New("invalid answer")
	ErrNoRuleStore     = errors.New("no store is open to save rules in")
	ErrNotOffered      = errors.New("the request does not take this answer")
	ErrPersonOnly      = errors.New("only a person may answer this")
	ErrTakenBack       = errors.New("the answer was taken back")
)

// A DecisionError says which decision had no effect and why.
type DecisionError struct {
	Request string
	Err     error
}

func (e *DecisionError) Error() string { return fmt.Sprintf("request %q: %v", e.Request, e.Err) }

func (e *DecisionError) Unwrap() error { return e.Err }

// validate reports why the request does not take the decision.
func (d *Decision) validate(r *Request) error {
	switch d.Answer {
	case AnswerApprove:
		if d.Result != "" {
			return fmt.Errorf("%w: it approves and gives a result", ErrInvalidDecision)
		}
	case AnswerRespond:
		if d.Arguments != nil || d.Remember.Keep != KeepNone {
			return fmt.Errorf("%w: a result given by a person cannot be remembered or change arguments", ErrInvalidDecision)
		}
	case AnswerDeny, AnswerNone, AnswerDismiss, AnswerExpire:
		if d.Arguments != nil || d.Result != "" || d.Choice != "" {
			return fmt.Errorf("%w: it refuses and says how to run", ErrInvalidDecision)
		}
	default:
		return fmt.Errorf("%w: unknown answer %q", ErrInvalidDecision, string(d.Answer))
	}
	if offered := func(c Choice) bool { return c.ID == d.Choice }; d.Choice != "" && !slices.ContainsFunc(r.Choices, offered) {
		return fmt.Errorf("%w: there is no choice %q", ErrNotOffered, d.Choice)
	}
	if err := d.validateVia(r); err != nil {
		return err
	}
	return d.validateRemember(r)
}

// agrees reports whether the decision lets something reach the model as the
// tool's result.
func (d *Decision) agrees() bool { return d.Answer == AnswerApprove || d.Answer == AnswerRespond }

func (d *Decision) validateVia(r *Request) error {
	switch {
	case d.By.Via == policy.ViaTeam && len(d.Votes) == 0 && (d.agrees() || d.Remember.Keep != KeepNone || d.Stop):
		return fmt.Errorf("%w: without votes a team can only deny, once", ErrUnproven)
	case d.By.Via != policy.ViaTeam && len(d.Votes) > 0:
		return fmt.Errorf("%w: it has votes and does not come from a team", ErrInvalidDecision)
	case d.By.Via != policy.ViaTeam && d.agrees() && r.TeamDecides():
		return fmt.Errorf("%w: %s", ErrTeamDecides, r.Routing.Need)
	}
	switch d.By.Via {
	case policy.ViaRule, policy.ViaGrant:
		return fmt.Errorf("%w: rules and grants answer inside the gate", ErrInvalidDecision)
	case policy.ViaMode, policy.ViaElicitation:
		if d.agrees() && r.PersonOnly {
			return ErrPersonOnly
		}
	case policy.ViaAPI:
		if d.agrees() || d.Remember.Keep != KeepNone || d.Stop {
			return fmt.Errorf("%w: a token of the API can only deny, once", ErrNotOffered)
		}
	case "", policy.ViaProgram, policy.ViaTerminal, policy.ViaInbox, policy.ViaCommand, policy.ViaAgentPrompt, policy.ViaBrowser, policy.ViaTeam:
	default:
		return fmt.Errorf("%w: unknown origin %q", ErrInvalidDecision, string(d.By.Via))
	}
	return nil
}

func (d *Decision) validateRemember(r *Request) error {
	m := d.Remember
	switch m.Keep {
	case KeepNone:
		return nil
	case KeepSession, KeepAlways:
	default:
		return fmt.Errorf("%w: unknown memory %q", ErrInvalidDecision, string(m.Keep))
	}
	switch {
	case d.Answer != AnswerApprove && d.Answer != AnswerDeny:
		return fmt.Errorf("%w: only a yes or a no can be remembered", ErrInvalidDecision)
	case d.Answer == AnswerApprove && r.PersonOnly:
		return fmt.Errorf("%w, each time", ErrPersonOnly)
	case d.holdsOnce():
		return fmt.Errorf("%w: an answer by %s holds once", ErrNotOffered, d.By.Via)
	case m.Keep == KeepSession && r.NoSession, m.Keep == KeepAlways && r.NoAlways:
		return fmt.Errorf("%w: it cannot be remembered (%s)", ErrNotOffered, m.Keep)
	case m.For < 0:
		return fmt.Errorf("%w: a lifetime of %v", ErrInvalidDecision, m.For)
	}
	switch m.Reach {
	case "", policy.ReachExact, policy.ReachPrefix, policy.ReachProject, policy.ReachDomain, policy.ReachTool:
		return nil
	}
	return fmt.Errorf("%w: unknown reach %q", ErrInvalidDecision, string(m.Reach))
}

// holdsOnce reports whether who answers can only ever answer once.
func (d *Decision) holdsOnce() bool {
	return d.By.Via == policy.ViaElicitation || d.By.Via == policy.ViaMode
}

// remembers returns what is kept of the decision on r: what it says, and for a
// tool that asks once a session, that.
func (d *Decision) remembers(r *Request) Remember {
	if d.Answer == AnswerApprove && d.Remember.Keep == KeepNone && r.Once && !d.holdsOnce() {
		return Remember{Keep: KeepSession, Reach: policy.ReachExact}
	}
	return d.Remember
}

// state returns how a call ends that is answered so.
func (a Answer) state() policy.State {
	switch a {
	case AnswerApprove:
		return policy.StateApproved
	case AnswerRespond:
		return policy.StateAnswered
	case AnswerDismiss:
		return policy.StateDismissed
	case AnswerExpire:
		return policy.StateExpired
	}
	return policy.StateDenied
}
