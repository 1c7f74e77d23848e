package approval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/policy"
)

// A Strength says how well an answer is shown to be a person's. The zero Strength shows nothing.
type Strength string

// The strengths, from the weakest.
const (
	StrengthSession Strength = "session" // somebody who was signed in
	StrengthDevice  Strength = "device"  // the key of a device
	StrengthPasskey Strength = "passkey" // a passkey, with a touch for this very answer
)

var strengths = []Strength{"", StrengthSession, StrengthDevice, StrengthPasskey}

// Valid reports whether the strength is one that there is.
func (s Strength) Valid() bool { return slices.Contains(strengths, s) }

// AtLeast reports whether s shows as much as other. An unknown strength shows nothing, and nothing is enough for it.
func (s Strength) AtLeast(other Strength) bool {
	return s.Valid() && other.Valid() && slices.Index(strengths, s) >= slices.Index(strengths, other)
}

// Whom a need can leave out, besides persons by their ids.
const (
	NotSponsor = "sponsor" // the person behind the agent that asks
	NotEditor  = "editor"  // whoever wrote the policy that is in force
)

// FromSponsor, in place of a group, is the person behind the agent.
const FromSponsor = "sponsor"

// A Need says who must agree before a call runs. All of From are needed; one person who denies refuses.
type Need struct {
	// Source names the entry of the policy that says so.
	Source string  `json:"source,omitempty"`
	From   []Count `json:"from"`
	// Not are those whose yes does not count: [NotSponsor], [NotEditor], or persons by their ids.
	Not []string `json:"not,omitempty"`
	// Proof is the least that a yes must be shown with.
	Proof Strength `json:"proof"`
	// Escalate adds people whose yes counts too, later. It lowers neither a count nor the proof.
	Escalate []Escalation `json:"escalate,omitempty"`
	// Expires is how long after it was asked the request ends with a denial.
	Expires time.Duration `json:"expires,omitempty"`
	// Here says that an answer given at the machine itself counts too: nothing in the policy reserves the call.
	Here bool `json:"here,omitempty"`
}

// A Count is how many members of a group must agree.
type Count struct {
	Group string `json:"group"`
	Count int    `json:"count"`
}

// An Escalation lets the members of a group stand in for those of any other, after some time.
type Escalation struct {
	After time.Duration `json:"after"`
	To    string        `json:"to"`
}

// MaxPlaces is how many people a need can ask for, and how many groups and escalations it can name.
const MaxPlaces = 100

// Validate reports why nobody could go by the need.
func (n Need) Validate() error {
	if len(n.From) == 0 {
		return errors.New("it names nobody who decides")
	}
	for i, c := range n.From {
		// Twice would be a sum here, and the larger of both where needs are joined.
		if slices.ContainsFunc(n.From[:i], func(before Count) bool { return before.Group == c.Group }) {
			return fmt.Errorf("group %q is there twice: write one count", c.Group)
		}
		if c.Group == "" || c.Count < 1 {
			return fmt.Errorf("group %q: the count must be 1 or more", c.Group)
		}
		if c.Group == FromSponsor && c.Count != 1 {
			return errors.New("there is one sponsor: the count must be 1")
		}
	}
	// A machine writes it into its questions, and the server looks for somebody for each place.
	if len(n.From) > MaxPlaces || len(n.Escalate) > MaxPlaces {
		return fmt.Errorf("it names more than %d groups or escalations", MaxPlaces)
	}
	places := 0
	for _, c := range n.From {
		if places += min(c.Count, MaxPlaces+1); places > MaxPlaces {
			return fmt.Errorf("more than %d people would have to agree", MaxPlaces)
		}
	}
	if !n.Proof.Valid() || n.Proof == "" {
		return fmt.Errorf("proof %q: use session, device or passkey", n.Proof)
	}
	for _, e := range n.Escalate {
		if e.After <= 0 || e.To == "" {
			return errors.New("an escalation needs a time and a group")
		}
	}
	if n.Expires < 0 {
		return errors.New("expires must not be negative")
	}
	return nil
}

// And returns the need of both: everybody whom one of them names, and the stricter word where they differ.
func (n Need) And(other Need) Need {
	out := Need{Source: n.Source, From: slices.Clone(n.From), Not: slices.Clone(n.Not), Proof: n.Proof, Here: n.Here && other.Here}
	if other.Source != n.Source && other.Source != "" {
		out.Source = joinReasons(n.Source, other.Source)
	}
	for _, c := range other.From {
		i := slices.IndexFunc(out.From, func(h Count) bool { return h.Group == c.Group })
		if i < 0 {
			out.From = append(out.From, c)
		} else {
			out.From[i].Count = max(out.From[i].Count, c.Count)
		}
	}
	for _, who := range other.Not {
		if !slices.Contains(out.Not, who) {
			out.Not = append(out.Not, who)
		}
	}
	if other.Proof.AtLeast(out.Proof) {
		out.Proof = other.Proof
	}
	// Who stands in under one of them only would count where the other does not want it.
	for _, e := range n.Escalate {
		for _, o := range other.Escalate {
			if e.To == o.To {
				out.Escalate = append(out.Escalate, Escalation{After: max(e.After, o.After), To: e.To})
			}
		}
	}
	switch {
	case n.Expires == 0 || other.Expires == 0:
		out.Expires = max(n.Expires, other.Expires)
	default:
		out.Expires = min(n.Expires, other.Expires)
	}
	return out
}

// A Routing says for a request of a gate that has joined a team who decides about it.
type Routing struct {
	Tenant string `json:"tenant"`
	Gate   string `json:"gate"`
	// Agent is who asks on that machine; Sponsor the person behind it, always set.
	Agent   string `json:"agent,omitempty"`
	Sponsor string `json:"sponsor"`
	// Serial is that of the policy that was in force when it was asked.
	Serial int64 `json:"serial"`
	Need   Need  `json:"need"`
}

// A Person is somebody who may decide, as the signed policy knows them.
type Person struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

// A Directory is who the people of a team are, as the signed policy says. It is pure.
type Directory interface {
	// Voter returns whose proof it is, and how much it shows. It checks the signature and that the
	// credential counts; what the statement says is checked by [Request.Count].
	Voter(p Proof) (Person, Strength, error)
	// Editors are the ids of those who wrote the policy that is in force.
	Editors() []string
}

// A Vote is one person's signed answer.
type Vote struct {
	Proof Proof `json:"proof"`
	// Note is a comment. It is the only part of an answer in which votes that count together may differ.
	Note string `json:"note,omitempty"`
}

// A Tally is what votes amount to.
type Tally struct {
	// State is [policy.StatePending] while somebody is missing, [policy.StateApproved], [policy.StateAnswered]
	// or [policy.StateDenied].
	State policy.State `json:"state"`
	// Counted are the persons whose votes make up the state, or count so far.
	Counted []Person `json:"counted,omitempty"`
	// Missing is how many are still needed, by group.
	Missing []Count `json:"missing,omitempty"`
	// Void are votes that do not count, and why.
	Void []string `json:"void,omitempty"`
	// Votes are those that make up the state.
	Votes []Vote `json:"-"`
}

// A ballot is a vote that may count.
type ballot struct {
	vote      Vote
	person    Person
	strength  Strength
	statement Statement
}

// Count tallies votes on the request that show what this view's digest says. It is pure: the store of a
// server runs it when a vote comes in, and the gate that asked once more before anything runs. Age is how
// long ago it was asked.
//
// One deny refuses, with any proof that says whose it is. Yeses count together only if their statements
// agree in all but expiry, nonce and note. Each person counts once, and for one group.
func (r *Request) Count(need Need, votes []Vote, people Directory, view policy.Digest, age time.Duration) Tally {
	t := Tally{State: policy.StatePending}
	if err := need.Validate(); err != nil {
		t.Void = append(t.Void, "nobody can decide: "+err.Error())
		return t
	}
	ballots := map[string][]ballot{} // by what they agree to
	var order []string
	seen := map[string]bool{}
	for _, v := range votes {
		b, err := r.ballot(v, people, view)
		switch {
		case err != nil:
		case b.statement.Answer != AnswerApprove && b.statement.Answer != AnswerRespond:
			return Tally{State: policy.StateDenied, Counted: []Person{b.person}, Votes: []Vote{v}, Void: t.Void}
		case seen[b.person.ID]:
			err = fmt.Errorf("%s voted twice", b.person.Name)
		default:
			seen[b.person.ID] = true
			err = r.mayAgree(need, b, people)
		}
		if err != nil {
			t.Void = append(t.Void, err.Error())
			continue
		}
		key := b.statement.agreement()
		if ballots[key] == nil {
			order = append(order, key)
		}
		ballots[key] = append(ballots[key], b)
	}
	t.Missing = slices.Clone(need.From)
	for _, key := range order {
		counted, missing := r.assign(need, ballots[key], age)
		if len(counted) > len(t.Counted) || len(missing) == 0 {
			t.Missing, t.Counted, t.Votes = missing, nil, nil
			for _, b := range counted {
				t.Counted, t.Votes = append(t.Counted, b.person), append(t.Votes, b.vote)
			}
		}
		if len(missing) == 0 {
			t.State = counted[0].statement.Answer.state()
			return t
		}
	}
	return t
}

// ballot reads a vote and finds whose it is.
func (r *Request) ballot(v Vote, people Directory, view policy.Digest) (ballot, error) {
	s, err := ParseStatement(v.Proof.Statement)
	if err != nil {
		return ballot{}, fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	switch {
	case r.Routing == nil:
		err = errors.New("the request is not one of a team")
	case s.Request != r.ID || s.Fingerprint != r.Fingerprint || s.View != view:
		err = errors.New("what was signed is about another request, or about something else than was shown")
	case s.Tenant != r.Routing.Tenant || s.Serial != r.Routing.Serial:
		err = errors.New("what was signed is for another team or policy")
	case s.Note != textDigest(v.Note):
		err = errors.New("the note is not the one that was signed")
	}
	if err != nil {
		return ballot{}, fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	person, strength, err := people.Voter(v.Proof)
	if err == nil && (person.ID == "" || !strength.AtLeast(StrengthSession)) {
		err = errors.New("it is nobody's")
	}
	if err != nil {
		return ballot{}, fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	return ballot{v, person, strength, s}, nil
}

// mayAgree reports why the yes of this person does not count.
func (r *Request) mayAgree(need Need, b ballot, people Directory) error {
	if !b.strength.AtLeast(need.Proof) {
		return fmt.Errorf("the yes of %s needs a %s; it has a %s", b.person.Name, need.Proof, b.strength)
	}
	return r.excluded(need, b.person, people)
}

// excluded reports why the need leaves a person out, whatever group they are in.
func (r *Request) excluded(need Need, p Person, people Directory) error {
	switch {
	case slices.Contains(need.Not, p.ID):
		return fmt.Errorf("%s may not decide about this", p.Name)
	case slices.Contains(need.Not, NotSponsor) && p.ID == r.Routing.Sponsor:
		return fmt.Errorf("%s is behind the agent that asks, and may not decide about this", p.Name)
	case slices.Contains(need.Not, NotEditor) && slices.Contains(people.Editors(), p.ID):
		return fmt.Errorf("%s wrote the policy, and may not decide about this", p.Name)
	}
	return nil
}

// Eligible reports why a yes of the person, with whatever proof, would fill no place by now. It is for whom to ask;
// what counts is [Request.Count]'s to say.
func (r *Request) Eligible(need Need, p Person, people Directory, age time.Duration) error {
	if err := r.excluded(need, p, people); err != nil {
		return err
	}
	for _, c := range need.From {
		if r.belongs(p, c.Group, need, age) {
			return nil
		}
	}
	return fmt.Errorf("%s is in none of the groups that decide about this", p.Name)
}

// assign gives each person to one group that needs them, so that as many places as possible are taken, and
// returns those who have a place and how many are missing.
func (r *Request) assign(need Need, ballots []ballot, age time.Duration) (counted []ballot, missing []Count) {
	var places []string // a group for each person that is needed
	for _, c := range need.From {
		for range c.Count {
			places = append(places, c.Group)
		}
	}
	taken := make([]int, len(places)) // 1 + the ballot that has the place
	var place func(i int, tried []bool) bool
	place = func(i int, tried []bool) bool {
		for p, group := range places {
			if tried[p] || !r.belongs(ballots[i].person, group, need, age) {
				continue
			}
			tried[p] = true
			if taken[p] == 0 || place(taken[p]-1, tried) {
				taken[p] = i + 1
				return true
			}
		}
		return false
	}
	for i := range ballots {
		place(i, make([]bool, len(places)))
	}
	for p, group := range places {
		if taken[p] > 0 {
			counted = append(counted, ballots[taken[p]-1])
			continue
		}
		if n := len(missing); n > 0 && missing[n-1].Group == group {
			missing[n-1].Count++
		} else {
			missing = append(missing, Count{Group: group, Count: 1})
		}
	}
	slices.SortStableFunc(counted, func(a, b ballot) int { return cmp.Compare(a.person.ID, b.person.ID) })
	return counted, missing
}

// belongs reports whether a person can take a place of the group, by now.
func (r *Request) belongs(p Person, group string, need Need, age time.Duration) bool {
	if group == FromSponsor && p.ID == r.Routing.Sponsor || group != FromSponsor && slices.Contains(p.Groups, group) {
		return true
	}
	return slices.ContainsFunc(need.Escalate, func(e Escalation) bool {
		return age >= e.After && slices.Contains(p.Groups, e.To)
	})
}

// agreement identifies what a statement says but for what each person chooses alone. It is JSON: texts that are only
// written one after the other can be divided in two ways.
func (s Statement) agreement() string {
	s.Note, s.Expires, s.Nonce = policy.Digest{}, 0, ""
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts, numbers and lists of texts
	}
	return string(text)
}
