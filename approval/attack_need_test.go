package approval_test

import (
	"math"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// Two people who sign different answers do not agree, however alike the two look when they are printed.
func TestAttack_AnswersThatOnlyLookAlike(t *testing.T) {
	team := newTeam()
	r := requestOf(team)
	view, err := r.ViewDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need := team.Deciders[0].Need
	always := func(rules ...string) approval.Decision {
		d := r.Approve("")
		d.Remember = approval.Remember{Keep: approval.KeepAlways, Rules: rules}
		return d
	}
	chosen := func(choice string, rules ...string) approval.Decision {
		d := always(rules...)
		d.Choice = choice
		return d
	}
	const rest = " Note:sha256:0 Remember:{Keep:always Rules:["
	for name, two := range map[string][2]approval.Decision{
		"one rule and two":           {always("allow a allow b"), always("allow a", "allow b")},
		"a choice with what follows": {chosen("x"+rest+"y", "z"), chosen("x", "y"+rest+"z")},
		"none and an empty one":      {always(), always("")},
	} {
		votes := []approval.Vote{team.Vote(r, two[0], "ann"), team.Vote(r, two[1], "bob")}
		if got := r.Count(need, votes, team, view, 0); got.State != policy.StatePending {
			t.Errorf("%s: they count together: %s", name, got)
		}
		votes[1] = team.Vote(r, two[0], "bob")
		if got := r.Count(need, votes, team, view, 0); got.State != policy.StateApproved {
			t.Errorf("%s: the same twice: %s", name, got)
		}
	}
}

// A machine writes the need into its question. One that asks for a billion people must not take the server's memory.
func TestAttack_ANeedThatIsTooLarge(t *testing.T) {
	team := newTeam()
	r := requestOf(team)
	view, err := r.ViewDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	votes := []approval.Vote{team.Vote(r, r.Approve(""), "ann")}
	many := func(n, each int) (out []approval.Count) {
		for i := range n {
			out = append(out, approval.Count{Group: strings.Repeat("g", i+1), Count: each})
		}
		return out
	}
	for name, from := range map[string][]approval.Count{
		"one group":        many(1, math.MaxInt),
		"a sum":            many(2, approval.MaxPlaces/2+1),
		"a sum that wraps": many(3, math.MaxInt/2+1),
		"many groups":      many(approval.MaxPlaces+1, 1),
	} {
		need := approval.Need{From: from, Proof: approval.StrengthDevice}
		if need.Validate() == nil {
			t.Errorf("%s: the need is taken", name)
		}
		if got := r.Count(need, votes, team, view, 0); got.State != policy.StatePending || len(got.Missing) > 0 {
			t.Errorf("%s: it is counted: %s", name, got)
		}
	}
	if err := (approval.Need{From: many(2, approval.MaxPlaces/2), Proof: approval.StrengthDevice}).Validate(); err != nil {
		t.Errorf("as many as can be: %v", err)
	}
}
