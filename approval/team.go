package approval

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
)

// A Team is what a gate that has joined one holds of its team's signed policy. It reads what lies on this
// machine and waits for nobody. Whatever it fails to say refuses. It is safe for concurrent use. One that is a
// [Notifier] too has the gate look again at what waits when the policy changes.
type Team interface {
	// Reserved are the acts about which only the people decide whom the policy in force now names.
	Reserved() (*policy.Reserved, error)
	// Route says who decides about a request that is being made. With an error the call is refused, for
	// that reason.
	Route(r *Request) (*Routing, error)
	// Need is what the policy in force now asks for the request, of which Call, Acts, Origin and Created count.
	Need(r *Request) (Need, error)
	// People is the directory in force now.
	People() (Directory, error)
}

// ErrTeamDecides says that a yes was not given by those who decide about the call; match with [errors.Is].
var ErrTeamDecides = errors.New("an answer at this machine can only deny this: the team's policy names who decides")

// String says who must agree, for a sentence.
func (n Need) String() string {
	var who []string
	for _, c := range n.From {
		if c.Group == FromSponsor {
			who = append(who, "the sponsor of the agent")
		} else {
			who = append(who, fmt.Sprintf("%d of %s", c.Count, c.Group))
		}
	}
	text := strings.Join(who, " and ")
	if n.Proof != "" {
		text += ", with a " + string(n.Proof)
	}
	if n.Source != "" {
		text += " (" + n.Source + ")"
	}
	return text
}

// A Voted is a vote that counted, and whose it was by the directory of the gate that counted it.
type Voted struct {
	Person   string   `json:"person"`
	Name     string   `json:"name"`
	Strength Strength `json:"strength"`
	Vote
}

// TeamDecides reports whether only the people whom a team's policy names can say yes: nobody at this machine,
// and no prompt of an agent.
func (r *Request) TeamDecides() bool { return r.Routing != nil && !r.Routing.Need.Here }

// Live returns the votes whose statements have not expired.
func Live(votes []Vote, at time.Time) (live []Vote) {
	for _, v := range votes {
		if s, err := ParseStatement(v.Proof.Statement); err == nil && at.Before(time.Unix(s.Expires, 0)) {
			live = append(live, v)
		}
	}
	return live
}

// Voted returns the decision that the votes of a tally have made, with the changed arguments and the result that
// their statements have the digests of.
func (r *Request) Voted(t Tally, arguments []byte, result string) (Decision, error) {
	if t.State == policy.StatePending || len(t.Votes) == 0 {
		return Decision{}, fmt.Errorf("request %q: %w", r.ID, ErrOpen)
	}
	s, err := ParseStatement(t.Votes[0].Proof.Statement)
	if err != nil {
		return Decision{}, err
	}
	if s.Arguments != textDigest(string(arguments)) || s.Result != textDigest(result) {
		return Decision{}, fmt.Errorf("%w: the arguments or the result are not those that were signed", ErrUnproven)
	}
	return Decision{
		Request: r.ID, Fingerprint: s.Fingerprint, Answer: s.Answer, Choice: s.Choice, Arguments: arguments, Result: result,
		Stop: s.Stop, Remember: s.Remember, Votes: t.Votes, Note: notes(t.Votes),
		By: policy.Who{User: names(t.Counted), Via: policy.ViaTeam},
	}, nil
}

func names(people []Person) string {
	out := make([]string, len(people))
	for i, p := range people {
		out[i] = p.Name
	}
	return strings.Join(out, ", ")
}

// notes joins what those who voted say to the model.
func notes(votes []Vote) string {
	var out []string
	for _, v := range votes {
		if v.Note != "" {
			out = append(out, v.Note)
		}
	}
	return strings.Join(out, "; ")
}

// route has the team say who decides about a new request.
func (g *Gate) route(r *Request) error {
	r.Routing = nil
	if g.cfg.Team == nil {
		return nil
	}
	err := safely("finding who decides", func() (err error) {
		r.Routing, err = g.cfg.Team.Route(r)
		return err
	})
	switch {
	case err != nil:
		return err
	case r.Routing == nil || r.Routing.Tenant == "" || r.Routing.Sponsor == "":
		return errors.New("the team does not say who decides about this, or who is behind the agent")
	}
	if err := r.Routing.Need.Validate(); err != nil {
		return fmt.Errorf("who decides about this: %w", err)
	}
	return nil
}

// needs is what has to be met before a yes to the request counts: what the policy asked for when the request was
// made, and what it asks for now.
func (g *Gate) needs(r *Request) (need Need, err error) {
	if g.cfg.Team == nil {
		return r.Routing.Need, nil
	}
	err = safely("finding who decides", func() (err error) {
		need, err = g.cfg.Team.Need(r)
		return err
	})
	if err == nil && r.Routing != nil {
		need = r.Routing.Need.And(need)
	}
	return need, err
}

// leavable reports why a pending entry cannot be left to the prompt of another program.
func (b *Batch) leavable(e *entry) error {
	if b.gate.cfg.Team == nil && e.request.Routing == nil {
		return nil
	}
	need, err := b.gate.needs(e.request)
	if err == nil && !need.Here {
		err = fmt.Errorf("%w: %s", ErrTeamDecides, need)
	}
	return err
}

// errExpired says that a request has ended because those who decide took too long. It matches [ErrSettled].
var errExpired = fmt.Errorf("%w: those who decide did not answer in time", ErrSettled)

// decided reports why the decision on a pending entry does not count because of who made it, and returns the votes
// that make it, if some do. A no counts, whoever gives it.
func (b *Batch) decided(ctx context.Context, e *entry, d *Decision) ([]Voted, error) {
	g, r := b.gate, e.request
	byTeam := d.By.Via == policy.ViaTeam
	if g.cfg.Team == nil && r.Routing == nil && !byTeam || !byTeam && !d.agrees() {
		return nil, nil
	}
	if byTeam && (g.cfg.Team == nil || r.Routing == nil) {
		return nil, d.unlessPlainNo(fmt.Errorf("%w: this machine, or the request, belongs to no team", ErrUnproven))
	}
	need, err := g.needs(r)
	switch now := g.cfg.Clock(); {
	case err != nil:
		return nil, d.unlessPlainNo(err)
	case d.agrees() && need.Expires > 0 && now.Sub(r.Created) >= need.Expires:
		return nil, errExpired
	case byTeam:
	case !need.Here:
		return nil, fmt.Errorf("%w: %s", ErrTeamDecides, need)
	default:
		return nil, nil
	}
	if d.Arguments != nil && d.Fingerprint != r.Fingerprint {
		// They voted on the changed call, which they were shown.
		if r, err = b.Preview(ctx, r.ID, d.Arguments); err != nil {
			return nil, err
		}
		if need, err = g.needs(r); err != nil {
			return nil, err
		}
		r.Created = e.request.Created
	}
	view, err := r.ViewDigest(ctx)
	if err != nil {
		return nil, d.unlessPlainNo(err)
	}
	voted, err := g.counted(r, need, d, view)
	return voted, d.unlessPlainNo(err)
}

// unlessPlainNo returns the error, unless the decision does nothing but refuse this once. That needs no proof.
func (d *Decision) unlessPlainNo(err error) error {
	if !d.agrees() && d.Remember.Keep == KeepNone && !d.Stop {
		return nil
	}
	return err
}

// counted counts the votes of a decision again, with the people whom the policy in force now knows, and reports why
// they do not make this very decision.
func (g *Gate) counted(r *Request, need Need, d *Decision, view policy.Digest) ([]Voted, error) {
	var people Directory
	err := safely("reading who the people of the team are", func() (err error) {
		people, err = g.cfg.Team.People()
		return err
	})
	if err != nil {
		return nil, err
	}
	now := g.cfg.Clock()
	// What was answered in time and taken later counts, such as by a run that was put aside. A time before the
	// question is nobody's.
	at := now
	if !d.At.IsZero() && d.At.Before(now) && !d.At.Before(r.Created) {
		at = d.At
	}
	var tally Tally
	err = safely("counting the votes", func() error {
		tally = r.Count(need, Live(d.Votes, at), people, view, now.Sub(r.Created))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case tally.State != d.Answer.state():
		return nil, fmt.Errorf("%w: the votes do not say so: %s", ErrUnproven, tally)
	}
	out := make([]Voted, len(tally.Votes))
	for i, v := range tally.Votes {
		if err := r.states(v, d, view); err != nil {
			return nil, err
		}
		person := tally.Counted[i]
		_, strength, err := people.Voter(v.Proof)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnproven, err)
		}
		out[i] = Voted{Person: person.ID, Name: person.Name, Strength: strength, Vote: v}
	}
	return out, nil
}

// states reports why a vote that counts is not one for all that the decision does.
func (r *Request) states(v Vote, d *Decision, view policy.Digest) error {
	s, err := ParseStatement(v.Proof.Statement)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	want := d.States(view)
	want.Tenant, want.Serial = r.Routing.Tenant, r.Routing.Serial
	want.Note, want.Expires, want.Nonce = s.Note, s.Expires, s.Nonce
	if !reflect.DeepEqual(s, want) {
		return fmt.Errorf("%w: what was signed is not this answer", ErrUnproven)
	}
	return nil
}

// as returns the decision as the gate counted it. What the way here says about who it was and what they noted is nobody's
// word.
func (d Decision) as(voted []Voted) Decision {
	if d.By.Via != policy.ViaTeam {
		return d
	}
	people, votes := make([]Person, len(voted)), make([]Vote, len(voted))
	for i, v := range voted {
		people[i], votes[i] = Person{Name: v.Name}, v.Vote
	}
	d.By, d.Note = policy.Who{User: names(people), Via: policy.ViaTeam}, notes(votes)
	return d
}

// String says what is missing, for a sentence.
func (t Tally) String() string {
	text := string(t.State)
	for _, m := range t.Missing {
		text += fmt.Sprintf(", %d of %s missing", m.Count, m.Group)
	}
	if len(t.Void) > 0 {
		text += " (" + strings.Join(t.Void, "; ") + ")"
	}
	return text
}

// stillDecided reports why the person's yes to a call that is about to run does not count, by what is known now. The
// answer may come from a batch that was saved, so all of it is checked again. Without an answer nobody of a team gave one.
func (g *Gate) stillDecided(ctx context.Context, d *draft) error {
	o := &d.outcome
	byTeam := o.Decision != nil && o.Decision.By.Via == policy.ViaTeam
	if g.cfg.Team == nil {
		if byTeam {
			return fmt.Errorf("%w: this machine belongs to no team", ErrUnproven)
		}
		return nil
	}
	r := &Request{ID: o.Request, Call: o.Call, Fingerprint: o.Fingerprint, Acts: d.proposal.Acts, Created: o.Asked,
		Origin: g.origin(ctx), view: &lazyView{build: d.proposal.View}}
	if d.proposal.View == nil {
		r.view.build = argumentsView(&r.Call)
	}
	if err := g.route(r); err != nil {
		return err
	}
	if o.Routing != nil {
		if !r.Routing.concerns(o.Routing) {
			return errors.New("the agent's sponsor or team is another now")
		}
		r.Routing = o.Routing
	}
	need, err := g.needs(r)
	switch {
	case err != nil:
		return err
	case !byTeam && need.Here:
		return nil
	case !byTeam:
		return fmt.Errorf("%w: %s", ErrTeamDecides, need)
	}
	view := o.shown
	if view.IsZero() {
		if view, err = r.ViewDigest(ctx); err != nil {
			return err
		}
	}
	o.Voted, err = g.counted(r, need, o.Decision, view)
	return err
}

// concerns reports whether the two are about the same agent of the same person. Serial and need may differ: votes
// are for the one that was asked, and what is needed is the stricter of then and now.
func (r *Routing) concerns(other *Routing) bool {
	return r.Tenant == other.Tenant && r.Gate == other.Gate && r.Agent == other.Agent && r.Sponsor == other.Sponsor
}

// asks reports whether a request that was made before still says who decides, now that it would be routed so.
func (r *Routing) asks(before *Routing) bool {
	if r == nil || before == nil {
		return r == before
	}
	return r.concerns(before) && r.Need.Here == before.Need.Here
}

// reroutes reports whether those who decide about a pending request are no longer whom it says.
func (g *Gate) reroutes(r *Request) bool {
	if g.cfg.Team == nil {
		return false
	}
	fresh := *r
	return g.route(&fresh) == nil && !fresh.Routing.asks(r.Routing)
}

// expireInTime ends a request of a team that waits for longer than its policy says.
func (b *Batch) expireInTime(r *Request) {
	for {
		left := r.Routing.Need.Expires - b.gate.cfg.Clock().Sub(r.Created)
		if left <= 0 {
			break
		}
		timer, cancel := context.WithTimeout(context.Background(), left)
		select {
		case <-r.Done():
			cancel()
			return
		case <-timer.Done():
			cancel()
		}
	}
	// If somebody answers at this very moment, that holds.
	_ = b.Resolve(context.Background(), r.decision(AnswerExpire, ""))
}
