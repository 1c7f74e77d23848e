package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/assent-dev/assent/policy"
)

// A Settlement is how a request ended.
type Settlement struct {
	State policy.State `json:"state"`
	By    policy.Who   `json:"by,omitzero"`
	At    time.Time    `json:"at,omitzero"`
	// Decision is the answer, if somebody gave one. A rule, a grant and the end
	// of the run settle a request without.
	Decision *Decision `json:"decision,omitempty"`
	// Partial says that the decision is kept as a record only: something in it
	// was a secret, and it can no longer take effect.
	Partial bool `json:"partial,omitempty"`
}

// Settled returns how a request ends that is answered so.
func (d Decision) Settled() Settlement {
	if d.By.Via == "" {
		d.By.Via = policy.ViaProgram
	}
	return Settlement{State: d.state(), By: d.By, At: d.At, Decision: &d}
}

// Digest identifies the answer. When it was given does not count: the gate that
// takes an answer from a store may note another time.
func (d Decision) Digest() policy.Digest {
	d.At = time.Time{}
	if d.By.Via == "" {
		d.By.Via = policy.ViaProgram
	}
	data, err := json.Marshal(d)
	if err != nil {
		return policy.Digest{} // only for arguments that are no JSON, which no gate takes
	}
	return policy.DigestOf(data)
}

// A SettledError reports an answer that came too late, and who was faster. It
// matches [ErrSettled].
type SettledError struct {
	Request string
	Settlement
}

func (e *SettledError) Error() string {
	return fmt.Sprintf("request %q: %v: %s by %s", e.Request, ErrSettled, e.State, e.By)
}

// Is makes the error match [ErrSettled].
func (e *SettledError) Is(target error) bool { return target == ErrSettled }

// A Posted is a request as every process sees it.
type Posted struct {
	// Request has its view as long as it is open.
	Request *Request
	// Settled says how the request was answered; nil while it is open.
	Settled *Settlement
	// Problem says why an answer that was given had no effect, if one had none.
	Problem string
}

// A Settler makes answers final where every process sees them. Of several
// settlements of one request one wins, in whatever process.
type Settler interface {
	// Settle makes s the end of r, posted or not. If r has ended in another way
	// the error is a [*SettledError]; if in this very way, there is none.
	Settle(ctx context.Context, r *Request, s Settlement) error
	// Reopen takes back an answer that could not take effect, and says why.
	Reopen(ctx context.Context, r *Request, why string) error
}

// ErrTooManyPending says that too many requests of a session wait already.
var ErrTooManyPending = fmt.Errorf("%d requests of this session wait for an answer already", MaxPending)

// A RequestStore is where requests wait for an answer from any process. It is
// safe for concurrent use, also by other processes.
type RequestStore interface {
	Settler
	// Post makes requests visible. One that was posted before stays as it is. Of
	// a session at most [MaxPending] wait; more are [ErrTooManyPending], and none
	// of these requests is posted.
	Post(ctx context.Context, requests ...*Request) error
	// Answer gives a request its answer, which whoever posted it then takes. It
	// is checked with [Request.Check]; if the request has ended the error is a
	// [*SettledError], if nobody posted it [ErrUnknownRequest].
	Answer(ctx context.Context, d Decision) error
	// Posted returns one request, open or not, or [ErrUnknownRequest].
	Posted(ctx context.Context, id string) (Posted, error)
	// Open returns the open requests, the oldest first; of one session, or of
	// all with "".
	Open(ctx context.Context, session string) ([]Posted, error)
	// Await returns as soon as one of the requests is not open, with that one.
	Await(ctx context.Context, ids ...string) (Posted, error)
	// NotifyRequests calls changed after requests were posted, answered or
	// settled, by whatever process, until stop is called.
	NotifyRequests(changed func()) (stop func())
}

// Check reports why the request does not take the decision.
func (r *Request) Check(d Decision) error {
	if d.Request != r.ID {
		return fmt.Errorf("%w: the answer is for request %q", ErrWrongCall, d.Request)
	}
	if d.Arguments == nil && d.Fingerprint != r.Fingerprint {
		return ErrWrongCall
	}
	return d.validate(r)
}

// settles returns those of the requests that would no longer wait if the policy
// were asked: what a rule or a grant would settle once it is saved. The grants
// must be those of the requests' session.
func settles(p policy.Policy, requests []*Request, now time.Time) (out []*Request) {
	p.Mode = policy.ModeAsk
	for _, r := range requests {
		call := r.Call
		call.Definition = r.Definition
		if p.Judge(policy.Question{Call: &call, Definition: r.Definition, SharesName: r.SharesName, Acts: r.Acts, Now: now}).State != policy.StatePending {
			out = append(out, r)
		}
	}
	return out
}

// coversElsewhere returns what [Gate.Covers] finds among the requests of other
// processes. Those that cannot be read are not named: it is for show.
func (g *Gate) coversElsewhere(ctx context.Context, r *Request, known []*Request, rules []policy.Rule, grants []policy.Grant) (out []*Request) {
	store, ok := g.cfg.Requests.(RequestStore)
	if !ok {
		return nil
	}
	posted, err := store.Open(ctx, "")
	if err != nil {
		return nil
	}
	seen := map[string]bool{r.ID: true}
	for _, k := range known {
		seen[k.ID] = true
	}
	sessions := map[string][]*Request{}
	for _, p := range posted {
		if s := p.Request.Call.Session; !seen[p.Request.ID] {
			sessions[s] = append(sessions[s], p.Request)
		}
	}
	for session, requests := range sessions {
		if inForce, err := g.policyWith(ctx, session, rules, grants); err == nil {
			out = append(out, settles(inForce, requests, g.cfg.Clock())...)
		}
	}
	return out
}
