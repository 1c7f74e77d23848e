//go:build all

package people_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/teamtest"
	"github.com/assent-dev/assent/policy"
)

// Gate and server each measure how long ago something was asked by one clock of their own, so that it does not matter how
// far these are apart. What one of them thinks is too late, or too early to escalate, does not run.
func TestClocksThatAreTenMinutesApart(t *testing.T) {
	for _, apart := range []time.Duration{-10 * time.Minute, 0, 10 * time.Minute} {
		t.Run(apart.String(), func(t *testing.T) {
			x := teamtest.New(t, pgtest.Start(t).DSN(), -1)
			a, b, c := x.Person("Ann"), x.Person("Bob", "sre"), x.Person("Cleo", "oncall")
			g := x.Gate("laptop", a)
			x.Bundle.Deciders = []bundle.Decider{{Acts: []string{"write_file"}, Need: []bundle.From{{From: "sre", Count: 2}}, Proof: approval.StrengthPasskey,
				Escalate: []bundle.Escalation{{After: bundle.Duration(5 * time.Minute), To: "oncall"}}, Expires: bundle.Duration(8 * time.Minute)}}
			bob, cleo := newPhone(t, x, "Bob").invited(b), newPhone(t, x, "Cleo").invited(c)
			x.Write(`UPDATE team.credentials SET counts_from = counts_from - interval '1 hour'`) // a slow clock must know them too
			x.Publish()
			bob.knows()
			x.Pass(apart) // of the gates, from the database
			agree := func(r *approval.Request) {
				t.Helper()
				bob.agrees(r.ID)
				cleo.agrees(r.ID) // kept until the escalation
			}
			refused(t, "before the escalation", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
				agree(r)
				return r.Approve("")
			}), "1 of sre missing")
			refused(t, "at the gate it is early", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
				agree(r)
				x.Pass(4 * time.Minute)
				return r.Approve("")
			}), "1 of sre missing")
			refused(t, "oncall alone is not two", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
				if got, _, why := cleo.approves(r.ID); len(got) != 1 || got[0].Missing != "2 more of sre" {
					t.Errorf("%s %+v", why, got)
				}
				x.Pass(6 * time.Minute)
				return r.Approve("")
			}), "1 of sre missing")
			refused(t, "at the gate it is late", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
				agree(r)
				x.Pass(8 * time.Minute)
				return r.Approve("")
			}), "too few people answered in time; it needed 2 of sre")

			tool, args, p := edit()
			out := g.Calls(tool, args, p)
			r := <-g.Asked
			agree(r)
			stays(t, out)
			x.Pass(6 * time.Minute)
			x.Age(6 * time.Minute)
			if o := <-out; o.State != policy.StateApproved || len(o.Voted) != 2 {
				t.Errorf("after the escalation: %s with %d votes: %s", o.State, len(o.Voted), o.Why)
			}

			out = g.Calls(tool, args, p)
			r = <-g.Asked
			bob.agrees(r.ID)
			x.Age(8 * time.Minute)
			if o := <-out; o.State != policy.StateDenied && o.State != policy.StateExpired {
				t.Errorf("after its time at the server: %s: %s", o.State, o.Why)
			}
			if _, status, why := cleo.approves(r.ID); status != http.StatusConflict {
				t.Errorf("a vote after its time: %d %s", status, why)
			}
			var shown struct{ State, Ended string }
			bob.call("GET", "/api/v1/requests/"+r.ID, nil, &shown)
			if shown.State != "expired" || shown.Ended != "expired: 1 more of sre needed" {
				t.Errorf("after its time: %+v", shown)
			}
		})
	}
}

// The page of a question does not name votes that have expired, and offers another to who gave one.
func TestTheDetailOfAVoteThatExpired(t *testing.T) {
	x, g, _, bob, _ := three(t)
	tool, args, p := edit()
	g.Calls(tool, args, p)
	r := <-g.Asked
	bob.agrees(r.ID)
	var d struct {
		Need  string
		Voted bool
		Votes []struct{ Name string }
	}
	shown := func() string {
		d.Votes = nil
		bob.call("GET", "/api/v1/requests/"+r.ID, nil, &d)
		return fmt.Sprintf("%v, %d votes, %s", d.Voted, len(d.Votes), d.Need)
	}
	if text := shown(); !strings.HasPrefix(text, "true, 1 votes") || !strings.Contains(text, "Bob voted yes; 1 more of sre needed") {
		t.Error(text)
	}
	x.Pass(2 * time.Hour)
	if text := shown(); !strings.HasPrefix(text, "false, 0 votes") || strings.Contains(text, "voted yes") {
		t.Error("after the vote expired: ", text)
	}
}
