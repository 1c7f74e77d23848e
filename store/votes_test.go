package store_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// A gate that takes an answer of its team from the store needs all of it: votes with a secret in their notes too, and
// the routing that they are for. After that the note is as the detail says.
func TestVotesAreKeptWholeUntilTheyAreTaken(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	team := &approvaltest.Team{Tenant: "acme", Sponsor: "eve", Serial: 7, Persons: []approval.Person{{ID: "eve", Name: "Eve"}}}
	r := approvaltest.Requests(t, 1, "s")[0]
	if r.Routing, err = team.Route(r); err != nil {
		t.Fatal(err)
	}
	if err := s.Post(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	const secret = "password=hunter2hunter2"
	d := team.Voted(r, r.Approve(secret), "eve")
	if err := s.Answer(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	posted, err := s.Posted(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := posted.Settled; got.Partial || !reflect.DeepEqual(got.Decision.Votes, d.Votes) || !reflect.DeepEqual(posted.Request.Routing, r.Routing) {
		t.Errorf("the answer is kept as %+v, for %+v", got.Decision, posted.Request.Routing)
	}
	if err := s.Settle(t.Context(), r, posted.Settled.Decision.Settled()); err != nil {
		t.Fatal(err)
	}
	if posted, err = s.Posted(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	vote := posted.Settled.Decision.Votes[0]
	if !posted.Settled.Partial || vote.Note == secret || vote.Proof.Statement != d.Votes[0].Proof.Statement || posted.Settled.State != policy.StateApproved {
		t.Errorf("after it was taken it is %+v", posted.Settled.Decision)
	}
}
