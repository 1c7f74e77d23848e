package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// describe adds the operations.
func (s *Server) describe(api huma.API) {
	op := func(id, method, path, summary, tag string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: base + path, Summary: summary, Tags: []string{tag}, MaxBodyBytes: maxBody,
			BodyReadTimeout: bodyTime,
			Errors:          []int{401, 403, 404, 409, 412, 422, 503}}
	}
	read := func(id, path, summary string) huma.Operation { return op(id, http.MethodGet, path, summary, "read") }
	huma.Register(api, read("me", "/me", "Get who is signed in"), s.me)
	huma.Register(api, read("list-requests", "/requests", "List what waits for you"), s.listRequests)
	huma.Register(api, read("get-request", "/requests/{id}", "Get a request with its view and its votes"), s.getRequest)
	huma.Register(api, read("history", "/history", "List all requests, the newest first"), s.history)
	huma.Register(api, read("people", "/people", "List the people whom the signed policy knows"), s.people)
	huma.Register(api, read("bundle", "/bundle", "Get the signed policy as it was published"), s.bundle)
	huma.Register(api, op("vote", http.MethodPost, "/votes", "Vote on requests, with one signature under all", "vote"), s.vote)
	huma.Register(api, op("deny", http.MethodPost, "/requests/{id}/deny", "Deny a request; being signed in is enough", "vote"), s.deny)
	huma.Register(api, op("sign-out", http.MethodPost, "/sign-out", "End the session", "session"), s.signOut)
	s.describeKeys(api, op)
}

type meOutput struct {
	Body struct {
		ID     string   `json:"id"`
		Name   string   `json:"name"`
		Groups []string `json:"groups" nullable:"false"`
		Tenant string   `json:"tenant"`
		Team   string   `json:"team"`
		RP     string   `json:"rp" doc:"the name that passkeys are made for"`
		Keys   []string `json:"keys" nullable:"false" doc:"the passkeys that count by the signed policy"`
		Serial int64    `json:"serial" doc:"of the newest policy; 0 if there is none"`
	}
}

func (s *Server) me(ctx context.Context, _ *struct{}) (*meOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	me, out := personOf(ctx), &meOutput{}
	o := &out.Body
	o.ID, o.Name, o.Tenant, o.Team, o.RP, o.Serial = me.ID, present.SafeLine(me.Name), s.cfg.DB.Tenant(), s.cfg.Team, s.cfg.Door.RP(), b.Serial
	o.Groups, o.Keys = append([]string{}, b.person(me).Groups...), []string{}
	usable, err := s.usable(ctx, b, me.ID)
	for _, c := range usable {
		o.Keys = append(o.Keys, c.ID)
	}
	return out, s.fail(err)
}

// usable are the passkeys of a person that count by the bundle and that they have not revoked since.
func (s *Server) usable(ctx context.Context, b *bench, person string) ([]proof.Credential, error) {
	kept, err := s.cfg.DB.Credentials(ctx, person)
	if err != nil {
		return nil, err
	}
	revoked := map[string]bool{}
	for _, c := range kept {
		revoked[c.ID] = !c.Revoked.IsZero()
	}
	var out []proof.Credential
	for _, c := range b.passkeys(person) {
		if !revoked[c.ID] {
			out = append(out, c)
		}
	}
	return out, nil
}

type listInput struct {
	After string `query:"after" maxLength:"300" doc:"next of the page before"`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type listOutput struct {
	Body struct {
		Requests []Item `json:"requests" nullable:"false"`
		Next     string `json:"next,omitempty" doc:"send it as after for the next page"`
		// Own comes with the first page only.
		Own []Item `json:"own,omitempty" doc:"open questions of your own agents that others decide: you can only deny them"`
	}
}

// open reads what waits for somebody. With the first page come, after all others, those of their agents that they can only deny.
func (s *Server) open(ctx context.Context, me db.Person, p db.Page) ([]Item, string, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, "", err
	}
	done, err := s.list(ctx)
	if err != nil {
		return nil, "", err
	}
	defer done()
	rows, next, err := s.cfg.DB.OpenFor(ctx, me.ID, b.person(me).Groups, p)
	items := make([]Item, len(rows))
	for i := range rows {
		items[i] = b.item(&rows[i], me)
	}
	if err != nil || p.After != "" {
		return items, next, err
	}
	rows, _, err = s.cfg.DB.DenyFor(ctx, me.ID, b.person(me).Groups, db.Page{Limit: p.Limit})
	for i := range rows {
		own := b.item(&rows[i], me)
		own.DenyOnly = true
		items = append(items, own)
	}
	return items, next, err
}

func (s *Server) listRequests(ctx context.Context, in *listInput) (*listOutput, error) {
	items, next, err := s.open(ctx, personOf(ctx), db.Page{After: in.After, Limit: in.Limit})
	if err != nil {
		return nil, s.fail(err)
	}
	out := &listOutput{}
	own := slices.IndexFunc(items, func(i Item) bool { return i.DenyOnly })
	if own < 0 {
		own = len(items)
	}
	out.Body.Requests, out.Body.Own, out.Body.Next = items[:own:own], items[own:], next
	return out, nil
}

func (s *Server) history(ctx context.Context, in *listInput) (*listOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	done, err := s.list(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	defer done()
	rows, next, err := s.cfg.DB.History(ctx, db.Filter{}, db.Page{After: in.After, Limit: in.Limit})
	if err != nil {
		return nil, s.fail(err)
	}
	out := &listOutput{}
	out.Body.Requests, out.Body.Next = make([]Item, len(rows)), next
	for i := range rows {
		item := b.item(&rows[i], personOf(ctx))
		if r := &rows[i]; r.State == policy.StateDenied && item.By == "" && len(r.Voted) > 1 { // some of them said yes
			votes, err := s.cfg.DB.Votes(ctx, r.ID)
			if err != nil {
				return nil, s.fail(err)
			}
			item.By = b.names(decided(r, votes))
		}
		out.Body.Requests[i] = item
	}
	return out, nil
}

type idInput struct {
	ID string `path:"id" maxLength:"300"`
}

type detailOutput struct{ Body *Detail }

func (s *Server) getRequest(ctx context.Context, in *idInput) (*detailOutput, error) {
	d, _, err := s.detail(ctx, in.ID)
	return &detailOutput{d}, err
}

type voteInput struct {
	Body struct {
		Votes []voteBody `json:"votes" minItems:"1" maxItems:"200"`
	}
}

// A voteBody is one vote. What it does stands in its statement; the texts of which that has digests come along.
type voteBody struct {
	Request   string          `json:"request" maxLength:"300"`
	Note      string          `json:"note,omitempty" maxLength:"20000" doc:"reaches the model"`
	Result    string          `json:"result,omitempty" maxLength:"1000000" doc:"with respond: the tool's result in your words"`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"with approve: other arguments"`
	Proof     approval.Proof  `json:"proof" doc:"the passkey's signature over the statement, or over a list of statements"`
}

type voteOutput struct {
	Body struct {
		Results []voteResult `json:"results" nullable:"false"`
	}
}

// A voteResult says what became of a vote.
type voteResult struct {
	Request string `json:"request"`
	State   string `json:"state,omitempty"`
	Missing string `json:"missing,omitempty" doc:"who is still needed"`
	Words   string `json:"words,omitempty" doc:"what became of it"`
	Problem string `json:"problem,omitempty" doc:"why it does not count"`
}

// vote takes votes. Each counts or does not by itself; with one vote, why it does not is the error of the call.
func (s *Server) vote(ctx context.Context, in *voteInput) (*voteOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	usable, err := s.usable(ctx, b, personOf(ctx).ID)
	if err != nil {
		return nil, s.fail(err)
	}
	out := &voteOutput{}
	for _, v := range in.Body.Votes {
		result, err := s.voteOn(ctx, b, usable, v)
		if err != nil {
			if len(in.Body.Votes) == 1 {
				return nil, s.fail(err)
			}
			result.Problem = s.fail(err).Error()
		}
		out.Body.Results = append(out.Body.Results, result)
	}
	return out, nil
}

func (s *Server) voteOn(ctx context.Context, b *bench, usable []proof.Credential, v voteBody) (voteResult, error) {
	result := voteResult{Request: v.Request}
	// The key must be of who is signed in: the page would else show one person and count another.
	mine := false
	for _, c := range usable {
		mine = mine || c.ID == v.Proof.Credential
	}
	if !mine {
		return result, fmt.Errorf("%w: the passkey is not one of yours in the signed policy", db.ErrVoid)
	}
	statement, err := approval.ParseStatement(v.Proof.Statement)
	if err != nil {
		return result, fmt.Errorf("%w: %w", db.ErrVoid, err)
	}
	if left := time.Until(time.Unix(statement.Expires, 0)); left > longestStatement {
		return result, fmt.Errorf("%w: a statement is valid for at most %s", db.ErrVoid, longestStatement)
	}
	decision := approval.Decision{Request: v.Request, Fingerprint: statement.Fingerprint, Answer: statement.Answer, Choice: statement.Choice,
		Stop: statement.Stop, Remember: statement.Remember, Result: v.Result, Arguments: v.Arguments}
	outcome, err := s.cfg.DB.Vote(ctx, v.Request, db.Ballot{Vote: approval.Vote{Proof: v.Proof, Note: v.Note}, Decision: decision}, b.court())
	if err != nil {
		return result, err
	}
	result.State, result.Missing = string(outcome.State), missing(outcome.Tally)
	switch {
	case outcome.State != policy.StatePending:
		result.Missing, result.Words = "", "Settled: "+string(outcome.State)
	case len(outcome.Tally.Void) > 0:
		result.Words = present.SafeLine("Your vote is kept. " + strings.Join(outcome.Tally.Void, "; "))
	default:
		result.Words = "Your yes is counted; " + result.Missing + " needed"
	}
	return result, nil
}

// longestStatement is how long a statement may hold: time enough for a second person, and no standing order.
const longestStatement = time.Hour + 5*time.Minute

type denyInput struct {
	ID   string `path:"id" maxLength:"300"`
	Body struct {
		Note        string `json:"note,omitempty" maxLength:"20000" doc:"reaches the model"`
		Fingerprint string `json:"fingerprint,omitempty" doc:"of the request as it was shown: one with another is not denied"`
	}
}

type denyOutput struct{ Body voteResult }

func (s *Server) deny(ctx context.Context, in *denyInput) (*denyOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	if in.Body.Fingerprint != "" { // what has an id never changes, so that nothing comes between this and the denial
		r, err := s.cfg.DB.Request(ctx, in.ID)
		if err != nil {
			return nil, s.fail(err)
		}
		if r.Fingerprint.String() != in.Body.Fingerprint {
			return nil, huma.Error412PreconditionFailed("fingerprint: it is not that of this request; " +
				"read the request again, and deny what you see")
		}
	}
	err = s.cfg.DB.Deny(ctx, in.ID, personOf(ctx).ID, in.Body.Note, b.court())
	if err != nil {
		return nil, s.fail(err)
	}
	return &denyOutput{voteResult{Request: in.ID, State: string(policy.StateDenied), Words: "Denied"}}, nil
}

func (s *Server) signOut(ctx context.Context, _ *struct{}) (*struct{}, error) {
	if err := s.cfg.Door.SignOut(ctx); err != nil {
		return nil, s.fail(err)
	}
	return nil, nil
}

type bundleOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *Server) bundle(ctx context.Context, _ *struct{}) (*bundleOutput, error) {
	if _, err := s.court.bundle(ctx); err != nil {
		return nil, s.fail(err)
	}
	row, err := s.cfg.DB.Newest(ctx, bundle.Serials(s.cfg.DB.Tenant(), s.court.trust))
	if errors.Is(err, db.ErrNotFound) {
		return nil, huma.Error404NotFound("no policy is published yet")
	}
	return &bundleOutput{"text/plain; charset=utf-8", row.Note}, s.fail(err)
}

// A PersonDetail is somebody of the team.
type PersonDetail struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Groups []string `json:"groups" nullable:"false"`
	Keys   int      `json:"keys" doc:"how many of their keys count"`
}

type peopleOutput struct {
	Body struct {
		People []PersonDetail `json:"people" nullable:"false"`
	}
}

func (s *Server) people(ctx context.Context, _ *struct{}) (*peopleOutput, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	out := &peopleOutput{}
	out.Body.People = []PersonDetail{}
	for _, p := range b.People {
		out.Body.People = append(out.Body.People,
			PersonDetail{p.ID, p.Name, append([]string{}, p.GroupsAt(b.now)...), len(b.passkeys(p.ID))})
	}
	return out, nil
}
