//go:build all

package people_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/policy"
)

// A shift in a group begins and ends while one bundle holds, for the server that counts votes and for the gate that
// counts them again.
func TestShifts(t *testing.T) {
	x, g, _, bob, cleo := three(t)
	change := x.Now().Add(10 * time.Minute).UTC()
	person := func(name string) *bundle.Person {
		i := slices.IndexFunc(x.Bundle.People, func(p bundle.Person) bool { return p.Name == name })
		return &x.Bundle.People[i]
	}
	ann, shift := person("Ann"), person("Cleo")
	shift.Groups, shift.Memberships = nil, []bundle.Membership{{Group: "sre", From: change, Until: change.Add(10 * time.Minute)}}
	ann.Groups = nil // she is the sponsor, and may not decide
	x.Publish()
	bob.knows()
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	bob.agrees(r.ID)
	waits := func() int {
		var list struct{ Requests []struct{ ID string } }
		cleo.call("GET", "/api/v1/requests", nil, &list)
		return len(list.Requests)
	}
	if n := waits(); n != 0 {
		t.Errorf("%d questions wait for somebody whose shift has not begun", n)
	}
	if got, status, why := cleo.approves(r.ID); status != http.StatusOK || got[0].State != "pending" || got[0].Missing != "1 more of sre" {
		t.Errorf("before the shift: %d %s %+v", status, why, got)
	}
	stays(t, out)
	x.Pass(11 * time.Minute)
	if got, status, why := cleo.approves(r.ID); status != http.StatusOK || got[0].State != "approved" {
		t.Fatalf("during the shift: %d %s %+v", status, why, got)
	}
	if o := <-out; o.State != policy.StateApproved {
		t.Errorf("during the shift: %s: %s", o.State, o.Why)
	}
	var me struct{ Groups []string }
	if cleo.call("GET", "/api/v1/me", nil, &me); !slices.Equal(me.Groups, []string{"sre"}) {
		t.Errorf("during the shift: in %v", me.Groups)
	}
	if page := cleo.page("/page/people"); !strings.Contains(page, "sre from "+change.Format(time.RFC3339)+" until ") {
		t.Errorf("the page of people does not name the shift:\n%s", page)
	}

	// A server that settles with the votes of a shift that is over, such as one with a slow clock.
	refused(t, "after the shift", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
		if n := waits(); n != 1 {
			t.Errorf("%d questions wait for somebody on shift", n)
		}
		bob.agrees(r.ID)
		x.Pass(10 * time.Minute)
		cleo.agrees(r.ID)
		return r.Approve("")
	}), "1 of sre missing")
}
