package approval_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// A count is a drawn case: a team, a request of it, a need and votes.
type count struct {
	team    *approvaltest.Team
	request *approval.Request
	view    policy.Digest
	need    approval.Need
	votes   []approval.Vote
	age     time.Duration
}

func (c count) tally() approval.Tally {
	return c.request.Count(c.need, c.votes, c.team, c.view, c.age)
}

var countGroups = []string{"a", "b", "c"}

func drawCount(t *rapid.T) count {
	team := newTeam()
	team.Persons = nil
	for i := range rapid.IntRange(1, 5).Draw(t, "persons") {
		groups := rapid.SliceOfDistinct(rapid.SampledFrom(countGroups), rapid.ID[string]).Draw(t, "groups")
		team.Persons = append(team.Persons, approval.Person{ID: fmt.Sprint("p", i), Name: fmt.Sprint("P", i), Groups: groups})
	}
	ids := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint("p", rapid.IntRange(0, 5).Draw(t, "person")) })
	team.Sponsor, team.Wrote = ids.Draw(t, "sponsor"), rapid.SliceOfN(ids, 0, 1).Draw(t, "editors")
	c := count{team: team, age: time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Minute}
	c.request = requestOf(team)
	c.need = approval.Need{
		Proof: rapid.SampledFrom([]approval.Strength{approval.StrengthSession, approval.StrengthDevice, approval.StrengthPasskey}).Draw(t, "proof"),
		Not:   rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{approval.NotSponsor, approval.NotEditor}), ids), 0, 2).Draw(t, "not"),
	}
	for _, g := range rapid.SliceOfNDistinct(rapid.SampledFrom(append(countGroups, approval.FromSponsor)), 1, 3, rapid.ID[string]).Draw(t, "from") {
		n := 1
		if g != approval.FromSponsor {
			n = rapid.IntRange(1, 2).Draw(t, "count")
		}
		c.need.From = append(c.need.From, approval.Count{Group: g, Count: n})
	}
	if rapid.Bool().Draw(t, "escalates") {
		c.need.Escalate = []approval.Escalation{{After: 2 * time.Minute, To: rapid.SampledFrom(countGroups).Draw(t, "to")}}
	}
	var err error
	if c.view, err = c.request.ViewDigest(context.Background()); err != nil {
		t.Fatal(err)
	}
	for range rapid.IntRange(0, 6).Draw(t, "votes") {
		c.votes = append(c.votes, drawVote(t, c, ids.Draw(t, "voter")))
	}
	return c
}

func requestOf(team *approvaltest.Team) *approval.Request {
	requests, err := approvaltest.NewRequests(1, "s")
	if err != nil {
		panic(err)
	}
	r := requests[0]
	if r.Routing, err = team.Route(r); err != nil {
		panic(err)
	}
	return r
}

// drawVote draws what a person says: mostly yes, and mostly the same yes.
func drawVote(t *rapid.T, c count, person string) approval.Vote {
	d := c.request.Approve(rapid.SampledFrom([]string{"", "fine"}).Draw(t, "note"))
	switch rapid.IntRange(0, 12).Draw(t, "answer") {
	case 0:
		d = c.request.Deny("")
	case 1:
		d = c.request.Respond("done")
	case 2, 3:
		d.Stop = true
	}
	if rapid.IntRange(0, 3).Draw(t, "key") == 0 {
		person += "/device"
	}
	return c.team.Vote(c.request, d, person)
}

// An oracle counts by trying every way to give the persons of some votes a place each.
func (c count) oracle() policy.State {
	type ballot struct {
		person approval.Person
		text   string
		state  policy.State
	}
	var yes []ballot
	seen := map[string]bool{}
	for _, v := range c.votes {
		person, strength, err := c.team.Voter(v.Proof)
		s, _ := approval.ParseStatement(v.Proof.Statement)
		if err != nil {
			continue
		}
		state := map[approval.Answer]policy.State{approval.AnswerApprove: policy.StateApproved, approval.AnswerRespond: policy.StateAnswered}[s.Answer]
		if state == "" {
			return policy.StateDenied
		}
		if seen[person.ID] {
			continue
		}
		seen[person.ID] = true
		device := c.need.Proof == approval.StrengthPasskey && strength != approval.StrengthPasskey
		excluded := slices.Contains(c.need.Not, person.ID) ||
			slices.Contains(c.need.Not, "sponsor") && person.ID == c.team.Sponsor ||
			slices.Contains(c.need.Not, "editor") && slices.Contains(c.team.Wrote, person.ID)
		if !device && !excluded {
			yes = append(yes, ballot{person, fmt.Sprint(s.Answer, s.Stop), state})
		}
	}
	var places []string
	for _, n := range c.need.From {
		places = append(places, slices.Repeat([]string{n.Group}, n.Count)...)
	}
	fits := func(p approval.Person, place string) bool {
		return place == "sponsor" && p.ID == c.team.Sponsor || slices.Contains(p.Groups, place) ||
			len(c.need.Escalate) > 0 && c.age >= c.need.Escalate[0].After && slices.Contains(p.Groups, c.need.Escalate[0].To)
	}
	var fill func(left []string, used map[int]bool, text string) bool
	fill = func(left []string, used map[int]bool, text string) bool {
		if len(left) == 0 {
			return true
		}
		for i, b := range yes {
			if used[i] || b.text != text || !fits(b.person, left[0]) {
				continue
			}
			used[i] = true
			if fill(left[1:], used, text) {
				return true
			}
			used[i] = false
		}
		return false
	}
	for _, b := range yes {
		if fill(places, map[int]bool{}, b.text) {
			return b.state
		}
	}
	return policy.StatePending
}

func agreed(s policy.State) bool { return s == policy.StateApproved || s == policy.StateAnswered }

func TestCountIsWhatTryingEverythingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCount(t)
		got := c.tally()
		if want := c.oracle(); got.State != want {
			t.Fatalf("counted as %s, want %s (%v)", got.State, want, got)
		}
		if agreed(got.State) != (len(got.Missing) == 0 && got.State != policy.StateDenied) {
			t.Fatalf("%s with %v missing", got.State, got.Missing)
		}
		// Those who count are different persons, none of whom is excluded, and agree.
		seen := map[string]bool{}
		var first approval.Statement
		for i, p := range got.Counted {
			s, _ := approval.ParseStatement(got.Votes[i].Proof.Statement)
			s.Note, s.Expires, s.Nonce = policy.Digest{}, 0, ""
			if i == 0 {
				first = s
			}
			if seen[p.ID] || !reflect.DeepEqual(s, first) {
				t.Fatalf("%s counts twice, or says something else than the others", p.ID)
			}
			seen[p.ID] = true
			if got.State != policy.StateDenied && (slices.Contains(c.need.Not, p.ID) || slices.Contains(c.need.Not, "sponsor") && p.ID == c.team.Sponsor) {
				t.Fatalf("%s counts, who may not decide", p.ID)
			}
		}
	})
}

func TestCountOnlyGrowsWithWhoAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCount(t)
		state := c.tally().State
		// Removing a vote never approves what a deny did not stop.
		if len(c.votes) > 0 {
			less := c
			i := rapid.IntRange(0, len(c.votes)-1).Draw(t, "removed")
			less.votes = slices.Delete(slices.Clone(c.votes), i, i+1)
			person, _, _ := c.team.Voter(c.votes[i].Proof)
			votedOnce := !slices.ContainsFunc(less.votes, func(v approval.Vote) bool {
				p, _, _ := c.team.Voter(v.Proof)
				return p.ID == person.ID
			})
			if state == policy.StatePending && votedOnce && agreed(less.tally().State) {
				t.Fatal("with a vote less it is approved")
			}
		}
		// A further person who agrees lowers nothing.
		if agreed(state) {
			more := c
			more.team = &approvaltest.Team{Tenant: c.team.Tenant, Sponsor: c.team.Sponsor, Serial: c.team.Serial, Wrote: c.team.Wrote,
				Persons: append(slices.Clone(c.team.Persons), approval.Person{ID: "new", Name: "New", Groups: countGroups})}
			more.votes = append(slices.Clone(c.votes), c.team.Vote(c.request, c.request.Approve(""), "new"))
			if !agreed(more.tally().State) {
				t.Fatal("with a further yes it is not approved")
			}
		}
		// Time adds people.
		later := c
		later.age += time.Hour
		if agreed(state) && !agreed(later.tally().State) {
			t.Fatal("later it is not approved")
		}
		// An escalation asks for as many, with as good a proof.
		if end := later.tally(); agreed(end.State) {
			places := 0
			for _, n := range c.need.From {
				places += n.Count
			}
			if len(end.Counted) != places {
				t.Fatalf("%d persons decided instead of %d", len(end.Counted), places)
			}
			for _, v := range end.Votes {
				if _, strength, err := c.team.Voter(v.Proof); err != nil || !strength.AtLeast(c.need.Proof) {
					t.Fatalf("%s counts with a %s", v.Proof.Credential, strength)
				}
			}
		}
		// One deny refuses, also of somebody who said yes before.
		denies := c
		denies.votes = append(slices.Clone(c.votes), c.team.Vote(c.request, c.request.Deny(""), "p0/device"))
		if got := denies.tally().State; got != policy.StateDenied {
			t.Fatalf("with a no it is %s", got)
		}
	})
}

// What meets both needs meets each of them.
func TestBothNeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, other := drawCount(t), drawCount(t).need
		both := c
		both.need = c.need.And(other)
		if !agreed(both.tally().State) {
			return
		}
		second := c
		second.need = other
		if !agreed(c.tally().State) || !agreed(second.tally().State) {
			t.Fatalf("%+v is met, %+v or %+v is not", both.need, c.need, other)
		}
	})
}
