package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// An Item is a request in a list. Its texts are safe to show.
type Item struct {
	ID      string    `json:"id"`
	Tool    string    `json:"tool" doc:"the tool, with its connector before it if it has one"`
	Summary string    `json:"summary"`
	Why     string    `json:"why" doc:"why it asks"`
	Created time.Time `json:"created"`
	Agent   string    `json:"agent" doc:"who asks"`
	Sponsor string    `json:"sponsor" doc:"the person behind the agent"`
	Machine string    `json:"machine"`
	Project string    `json:"project,omitempty"`
	Branch  string    `json:"branch,omitempty"`
	// Until is when it ends with a denial; zero for never.
	Until      time.Time `json:"until,omitzero" doc:"when it ends with a denial"`
	PersonOnly bool      `json:"person_only"`
	Need       string    `json:"need" doc:"who must agree and who has, such as: 2 of sre, not Ann: Bob voted yes"`
	Voted      bool      `json:"voted" doc:"you have voted"`
	Not        string    `json:"not,omitempty" doc:"why a yes of yours would not count; you can still deny"`
	DenyOnly   bool      `json:"deny_only,omitempty" doc:"your agent asks and others decide: you can only deny"`
	State      string    `json:"state"`
	By         string    `json:"by,omitempty" doc:"who answered, once it has ended"`
	Version    int64     `json:"version" doc:"grows with each change"`
}

// item is a request as one person sees it.
func (b *bench) item(r *db.Request, me db.Person) Item {
	i := Item{
		ID: r.ID, Tool: present.SafeLine(r.Call.Name()), Summary: present.SafeLine(r.Summary), Why: present.SafeLine(r.Why), Created: r.Asking,
		Agent: present.SafeLine(agentOf(r.Request)), Sponsor: b.name(r.Routing.Sponsor), Machine: b.host(r.Routing.Gate),
		Project: present.SafeLine(r.Origin.Folder), Branch: present.SafeLine(r.Origin.Branch), Until: r.Expires, PersonOnly: r.PersonOnly,
		Voted: slices.Contains(r.Voted, me.ID), State: string(r.State), Version: r.Version,
	}
	i.Need = b.needs(r.Routing.Need, i.Sponsor)
	if len(r.Voted) > 0 && r.State == policy.StatePending {
		i.Need += ": " + b.names(r.Voted) + " voted yes" // one no would have ended it
	}
	switch who := there(r); {
	case who != "":
		i.By = who
	case r.State == policy.StateApproved, r.State == policy.StateAnswered, r.State == policy.StateDenied && len(r.Voted) == 1:
		i.By = b.names(r.Voted)
	}
	if err := r.Verify(b.key(r.Routing.Gate)); err != nil {
		i.Not = "its machine is not in the signed policy, or somebody changed the question"
	} else if err := r.Eligible(r.Routing.Need, b.person(me), b.people, r.Age); err != nil {
		i.Not = present.SafeLine(err.Error())
	}
	return i
}

func agentOf(r *approval.Request) string {
	switch {
	case r.Origin.Agent != "":
		return r.Origin.Agent
	case r.Routing.Agent != "":
		return r.Routing.Agent
	}
	return "an agent"
}

// A VoteDetail is one person's vote.
type VoteDetail struct {
	Person string    `json:"person"`
	Name   string    `json:"name"`
	Yes    bool      `json:"yes"`
	Note   string    `json:"note,omitempty"`
	At     time.Time `json:"at"`
	Mine   bool      `json:"mine"`
}

// A Detail is a request with all that a vote needs.
type Detail struct {
	Item
	Fingerprint string            `json:"fingerprint" doc:"what an answer is bound to"`
	ViewDigest  string            `json:"view_digest" doc:"of what is shown"`
	Serial      int64             `json:"serial" doc:"of the policy that was in force when it was asked"`
	View        any               `json:"view" doc:"what is shown, as the tool made it: make control characters visible before you print it"`
	Acts        []ActDetail       `json:"acts" nullable:"false"`
	Choices     []approval.Choice `json:"choices,omitempty"`
	YesOrNo     bool              `json:"yes_or_no,omitempty" doc:"it cannot be answered in its place"`
	Proof       approval.Strength `json:"proof" doc:"the least that a yes must be shown with"`
	Votes       []VoteDetail      `json:"votes" nullable:"false"`
	Missing     string            `json:"missing,omitempty" doc:"who is still needed"`
	Ended       string            `json:"ended,omitempty" doc:"how it ended"`

	request *db.Request
}

// An ActDetail is one thing that the call would do.
type ActDetail struct {
	Act        string `json:"act"`
	Why        string `json:"why,omitempty"`
	Asks       bool   `json:"asks" doc:"it needs an answer"`
	PersonOnly bool   `json:"person_only,omitempty"`
}

// detail reads a request as the caller sees it.
func (s *Server) detail(ctx context.Context, id string) (*Detail, *bench, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, nil, s.fail(err)
	}
	r, err := s.cfg.DB.Request(ctx, id)
	if err != nil {
		return nil, nil, s.fail(err)
	}
	// What somebody changed in the database is not shown: nobody could tell what they agree to.
	if err := r.Verify(b.key(r.Routing.Gate)); err != nil {
		return nil, nil, huma.Error422UnprocessableEntity("its machine is not in the signed policy yet, or somebody changed the question in the database")
	}
	view, err := r.Request.View(ctx)
	if err != nil {
		return nil, nil, huma.Error422UnprocessableEntity("this request cannot be shown, " +
			"so it cannot be approved; deny it at the machine")
	}
	votes, err := s.cfg.DB.Votes(ctx, id)
	if err != nil {
		return nil, nil, s.fail(err)
	}
	if r.State == policy.StatePending { // whoever gave a vote that has expired can give another
		votes = slices.DeleteFunc(votes, func(v db.CastVote) bool {
			return len(approval.Live([]approval.Vote{v.Vote}, b.now)) == 0
		})
	}
	r.Voted = nil
	for _, v := range votes {
		r.Voted = append(r.Voted, v.Person)
	}
	me := personOf(ctx)
	d := &Detail{Item: b.item(&r, me), Fingerprint: r.Fingerprint.String(), ViewDigest: r.View.String(), Serial: r.Routing.Serial, View: view,
		Choices: r.Choices, YesOrNo: r.YesOrNo, Proof: r.Routing.Need.Proof, Acts: []ActDetail{}, Votes: []VoteDetail{}, request: &r}
	for i, a := range r.Acts {
		d.Acts = append(d.Acts, ActDetail{present.SafeLine(a.String()), present.SafeLine(a.Why), slices.Contains(r.Open, i), a.PersonOnly})
	}
	var cast []approval.Vote
	for _, v := range votes {
		d.Votes = append(d.Votes, VoteDetail{v.Person, b.name(v.Person), agrees(v), present.SafeLine(v.Vote.Note), v.At, v.Person == me.ID})
		cast = append(cast, v.Vote)
	}
	if r.State == policy.StatePending {
		d.Missing = missing(r.Count(r.Routing.Need, cast, b.people, r.View, r.Age))
		if len(votes) > 0 && d.Missing != "" {
			d.Need += "; " + d.Missing + " needed"
		}
	} else {
		d.Ended = b.ending(&r, votes)
	}
	return d, b, nil
}

// there is the person who ended a request at the machine; empty if nobody did.
func there(r *db.Request) string {
	if r.State == policy.StateExpired || r.EndedBy == nil || *r.EndedBy == (policy.Who{}) {
		return "" // the gate itself ends a request whose time is over
	}
	return present.SafeLine(r.EndedBy.String()) + " at the machine"
}

// decided are the people whose votes say what the request ended with: a yes that came before the no is not among them.
func decided(r *db.Request, votes []db.CastVote) (by []string) {
	for _, v := range votes {
		if agrees(v) == (r.State != policy.StateDenied) {
			by = append(by, v.Person)
		}
	}
	return by
}

// agrees reports whether a vote is a yes.
func agrees(v db.CastVote) bool {
	return v.Decision.Answer == approval.AnswerApprove || v.Decision.Answer == approval.AnswerRespond
}

// ending says how a request ended, and by whom.
func (b *bench) ending(r *db.Request, votes []db.CastVote) string {
	by := b.names(decided(r, votes))
	expired := func() string {
		var cast []approval.Vote
		for _, v := range votes {
			cast = append(cast, v.Vote)
		}
		if short := missing(r.Count(r.Routing.Need, cast, b.people, r.View, r.Changed.Sub(r.Asking))); short != "" {
			return "expired: " + short + " needed"
		}
		return "expired: too few people answered in time" // who counts is another matter by now
	}
	switch who := there(r); {
	case r.State == policy.StateExpired && by != "":
		return expired()
	case r.State == policy.StateExpired:
		return "expired: nobody answered in time"
	case r.State == policy.StateDismissed:
		return "dismissed: the agent no longer asks"
	case who != "":
		return fmt.Sprintf("%s by %s", r.State, who)
	case by != "" && r.Decision != nil:
		return fmt.Sprintf("%s by %s", r.State, by)
	}
	return string(r.State)
}

// fail turns an error into the status that fits it.
func (s *Server) fail(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, db.ErrNotFound):
		return huma.Error404NotFound("there is no such request; the agent may have asked again under another id")
	case errors.Is(err, db.ErrSettled):
		return huma.Error409Conflict("somebody has answered it already")
	case errors.Is(err, db.ErrChanged):
		return huma.Error422UnprocessableEntity("its machine is not in the signed policy yet, or somebody changed the question in the database")
	case errors.Is(err, db.ErrVoid):
		return huma.Error403Forbidden(present.SafeLine(err.Error()))
	case errors.Is(err, context.Canceled): // nobody listens any more
		return huma.Error503ServiceUnavailable("the call was given up")
	case db.Invalid(err):
		return huma.Error422UnprocessableEntity(
			"an id, a text or a page of the call is invalid: it has a NUL byte, or the server did not give it; reload the page")
	}
	s.cfg.Log.Error("people", "error", err)
	return huma.Error503ServiceUnavailable("the database did not answer, " +
		"so your answer may or may not have had an effect; reload to see")
}
