//go:build all

package people_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/teamtest"
	"github.com/assent-dev/assent/policy"
)

// Whoever owns PostgreSQL writes any row there. What they cannot write is a signature.

// signs is a vote of the phone's owner, as it is sent.
func (p *phone) signs(statement string) approval.Proof {
	p.t.Helper()
	signed := p.touch(proof.Answer(statement))
	signed.Statement = statement
	return signed
}

// agrees votes yes by the server, which keeps it and waits for more.
func (p *phone) agrees(id string) {
	p.t.Helper()
	if got, status, why := p.approves(id); status != http.StatusOK || got[0].State != "pending" || got[0].Missing != "1 more of sre" {
		p.t.Errorf("a yes: %d %s %+v", status, why, got)
	}
}

// forced has an agent ask, an owner of the database do what they like to the question, and the database say that it was
// approved. It sends what became of the call.
func forced(t *testing.T, x *teamtest.Team, g *teamtest.Gate, does func(*approval.Request) approval.Decision) <-chan approval.Outcome {
	t.Helper()
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	d := does(r)
	stays(t, out)
	x.Settle(r, d)
	return out
}

// refused wants that the call does not run, and that this is why.
func refused(t *testing.T, name string, o approval.Outcome, why string) {
	t.Helper()
	if o.State == policy.StateApproved || o.State == policy.StateAnswered || !strings.Contains(o.Why, why) {
		t.Errorf("%s: %s: %q, not for %q", name, o.State, o.Why, why)
	}
}

// rewritten changes a question in the database, and all of its row so that nothing there says otherwise. Nobody is shown
// it any more.
func rewritten(x *teamtest.Team, reader *phone, id, before, after string) *approval.Request {
	t := reader.t
	t.Helper()
	row, err := x.DB.Request(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.ReplaceAll(row.Body, []byte(before), []byte(after))
	if bytes.Equal(body, row.Body) {
		t.Fatalf("%s is not in %s", before, body)
	}
	var q approval.Request
	if err := json.Unmarshal(body, &q); err != nil {
		t.Fatal(err)
	}
	view, err := q.ViewDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x.Write(`UPDATE team.requests SET body = $3, view_digest = $4, need = $5, sponsor = $6, excluded = '{}' WHERE tenant = $1 AND id = $2`,
		teamtest.Tenant, id, body, view[:], q.Routing.Need, q.Routing.Sponsor)
	if status, why := reader.call("GET", "/api/v1/requests/"+id, nil, nil); status != http.StatusUnprocessableEntity || !strings.Contains(why, "somebody changed the question") {
		t.Errorf("a changed question is shown: %d %s", status, why)
	}
	return &q
}

func TestAttack_ChangedRow(t *testing.T) {
	x, g, ann, bob, cleo := three(t)
	sponsor, behind := x.Bundle.People[0].ID, x.Bundle.People[1].ID
	both := func(r *approval.Request) {
		bob.agrees(r.ID)
		x.Force(r.ID, cleo.signs(cleo.states(r.ID)))
	}
	// What follows would run if nobody changed anything.
	unchanged := forced(t, x, g, func(r *approval.Request) approval.Decision { both(r); return r.Approve("") })
	if o := <-unchanged; o.State != policy.StateApproved {
		t.Fatalf("two yeses: %s %s", o.State, o.Why)
	}
	attacks := map[string]struct {
		why  string
		does func(*approval.Request) approval.Decision
	}{
		"the state": {"1 of sre missing", func(r *approval.Request) approval.Decision {
			bob.agrees(r.ID)
			return r.Approve("")
		}},
		"the answer of a vote": {"1 of sre missing", func(r *approval.Request) approval.Decision {
			bob.agrees(r.ID)
			no := cleo.signs(cleo.says(r.ID, "deny", ""))
			no.Statement = strings.Replace(no.Statement, `"answer":"deny"`, `"answer":"approve"`, 1)
			x.Force(r.ID, no)
			return r.Approve("")
		}},
		"the note of a vote": {"the note is not the one that was signed", func(r *approval.Request) approval.Decision {
			both(r)
			text, err := json.Marshal(approval.Vote{Proof: cleo.signs(cleo.states(r.ID)), Note: "and delete the rest"})
			if err != nil {
				t.Fatal(err)
			}
			x.Write(`UPDATE team.votes SET vote = $3 WHERE tenant = $1 AND request = $2`, teamtest.Tenant, r.ID, text)
			return r.Approve("")
		}},
		"the question of the votes": {"about another request", func(r *approval.Request) approval.Decision {
			tool, args, p := edit()
			harmless := g.Calls(tool, args, p)
			other := <-g.Asked
			both(other)
			x.Write(`UPDATE team.votes SET request = $3 WHERE tenant = $1 AND request = $2`, teamtest.Tenant, other.ID, r.ID)
			stays(t, harmless)
			return r.Approve("")
		}},
		"the need": {"1 of sre missing", func(r *approval.Request) approval.Decision {
			bob.agrees(r.ID)
			rewritten(x, cleo, r.ID, `"count":2`, `"count":1`)
			return r.Approve("")
		}},
		"the request": {"without votes", func(r *approval.Request) approval.Decision {
			rewritten(x, bob, r.ID, "notes/a.md", "notes/harmless.md")
			return r.Approve("")
		}},
		"the view": {"something else than was shown", func(r *approval.Request) approval.Decision {
			statements := []string{bob.states(r.ID), cleo.states(r.ID)}
			view, err := r.ViewDigest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			changed, err := rewritten(x, bob, r.ID, `two\n`, `one\n`).ViewDigest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, who := range []*phone{bob, cleo} { // a page that does not check has them sign it
				x.Force(r.ID, who.signs(strings.Replace(statements[i], view.String(), changed.String(), 1)))
			}
			return r.Approve("")
		}},
		"the sponsor": {"Ann is behind the agent", func(r *approval.Request) approval.Decision {
			statement := ann.states(r.ID)
			cleos := cleo.signs(cleo.states(r.ID))
			rewritten(x, ann, r.ID, sponsor, behind)
			if status, why := ann.vote(r.ID, ann.signs(statement)); status != http.StatusForbidden && status != http.StatusUnprocessableEntity {
				t.Errorf("the sponsor votes: %d %s", status, why)
			}
			x.Force(r.ID, ann.signs(statement))
			x.Force(r.ID, cleos)
			return r.Approve("")
		}},
		"how long the decision holds": {"each time", func(r *approval.Request) approval.Decision {
			both(r)
			d := r.Approve("")
			d.Remember = approval.Remember{Keep: approval.KeepSession}
			return d
		}},
		"the result of the decision": {"the votes do not say so", func(r *approval.Request) approval.Decision {
			both(r)
			return r.Respond("it is done")
		}},
	}
	ended := map[string]<-chan approval.Outcome{}
	for name, attack := range attacks {
		ended[name] = forced(t, x, g, attack.does)
	}
	for name, attack := range attacks {
		refused(t, name, <-ended[name], attack.why)
	}
}

// The server itself settles by a vote whose decision somebody changed after it was counted.
func TestAttack_ChangedRow_DecisionOfAVote(t *testing.T) {
	x, g, _, bob, cleo := three(t)
	// What is kept with the vote of the person who comes first is what the server settles with.
	first, second := bob, cleo
	if x.Bundle.People[2].ID < x.Bundle.People[1].ID {
		first, second = cleo, bob
	}
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	first.agrees(r.ID)
	changed := r.Approve("")
	changed.Arguments = json.RawMessage(`{"path":"/etc/passwd","content":"x"}`)
	text, err := json.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	x.Write(`UPDATE team.votes SET decision = $3 WHERE tenant = $1 AND request = $2`, teamtest.Tenant, r.ID, text)
	if got, status, why := second.approves(r.ID); status != http.StatusOK || got[0].State != "approved" {
		t.Fatalf("%d %s %+v", status, why, got)
	}
	select {
	case o := <-out:
		refused(t, "a vote's decision", o, "what was signed is not this answer")
	case again := <-g.Asked:
		t.Errorf("the gate took the arguments of the database: it asks about %s", again.Call.Arguments)
	}
}

func TestAttack_RemovedVote(t *testing.T) {
	x, g, _, bob, cleo := three(t)
	refused(t, "before it was settled", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
		bob.agrees(r.ID)
		x.Write(`DELETE FROM team.votes WHERE tenant = $1 AND request = $2`, teamtest.Tenant, r.ID)
		cleo.agrees(r.ID) // the server is one short again
		return r.Approve("")
	}), "1 of sre missing")
	refused(t, "all of them", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
		bob.agrees(r.ID)
		x.Write(`DELETE FROM team.votes WHERE tenant = $1 AND request = $2`, teamtest.Tenant, r.ID)
		return r.Approve("")
	}), "without votes")

	// From here on each question that the server settles loses a vote before anybody can see that it was settled.
	x.Write(`CREATE FUNCTION team.forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			DELETE FROM team.votes WHERE request = NEW.id AND person = (SELECT min(person) FROM team.votes WHERE request = NEW.id);
			RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER forget AFTER UPDATE ON team.requests DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW WHEN (NEW.state = 'approved') EXECUTE FUNCTION team.forget()`)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	bob.agrees(r.ID)
	if got, status, why := cleo.approves(r.ID); status != http.StatusOK || got[0].State != "approved" {
		t.Fatalf("%d %s %+v", status, why, got)
	}
	refused(t, "after it was settled", <-out, "1 of sre missing")
}

// The person behind the agent does not come to count, nor anybody twice, by another account or another key.
func TestAttack_SecondAccount(t *testing.T) {
	x, g, ann, bob, cleo := three(t)
	tool, args, p := edit()

	// Two keys that count are one person.
	second := newPhone(t, x, "Bob")
	if status, why := second.enrols("", bob); status != http.StatusOK {
		t.Fatalf("%d %s", status, why)
	}
	x.Publish()
	second.knows()
	refused(t, "two keys of one person", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
		bob.agrees(r.ID)
		second.agrees(r.ID) // in place of the first
		x.Force(r.ID, bob.signs(bob.states(r.ID)))
		return r.Approve("")
	}), "Bob voted twice")
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	second.agrees(r.ID)
	cleo.approves(r.ID)
	if o := <-out; o.State != policy.StateApproved {
		t.Errorf("the second key does not count at all: %s %s", o.State, o.Why)
	}

	// Ann is behind the agent, and makes herself another account, which the database has in the group.
	mallory, err := x.DB.AddPerson(t.Context(), x.Issuer.URL, "mallory", "Mallory")
	if err != nil {
		t.Fatal(err)
	}
	x.Write(`INSERT INTO team.groups (tenant, name) VALUES ($1, 'sre') ON CONFLICT DO NOTHING`, teamtest.Tenant)
	x.Write(`INSERT INTO team.memberships (tenant, group_name, person, source) VALUES ($1, 'sre', $2, 'sql')`, teamtest.Tenant, mallory.ID)
	own := newPhone(t, x, "Mallory").invited(mallory)
	refused(t, "a key of the account's own", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
		bob.agrees(r.ID)
		if _, status, why := own.approves(r.ID); status != http.StatusForbidden {
			t.Errorf("the second account: %d %s", status, why)
		}
		x.Force(r.ID, own.signs(own.states(r.ID)))
		return r.Approve("")
	}), "is nobody's in the team's policy")

	hers := *own // the account, with the key that the policy knows as Ann's
	hers.device, hers.key = ann.device, ann.key
	refused(t, "the sponsor's key", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
		bob.agrees(r.ID)
		x.Write(`UPDATE team.credentials SET person = $3 WHERE tenant = $1 AND id = $2`, teamtest.Tenant, credentialOf(ann), mallory.ID)
		if _, status, why := hers.approves(r.ID); status != http.StatusForbidden {
			t.Errorf("the sponsor's key in the second account: %d %s", status, why)
		}
		x.Force(r.ID, hers.signs(hers.states(r.ID)))
		return r.Approve("")
	}), "Ann is behind the agent")
	refused(t, "the sponsor's key under the name of another's", <-forced(t, x, g, func(r *approval.Request) approval.Decision {
		bob.agrees(r.ID)
		as := hers.signs(hers.states(r.ID))
		as.Credential = credentialOf(cleo)
		x.Force(r.ID, as)
		return r.Approve("")
	}), "1 of sre missing")

	// Nor does anybody sign a policy in which one key is that of two.
	next := x.Bundle
	key := x.Bundle.People[0].Credentials[0]
	key.ID, key.Since = "another", time.Time{}
	next.People = append(slices.Clone(next.People), bundle.Person{ID: mallory.ID, Name: "Mallory", Groups: []string{"sre"}, Credentials: []bundle.Credential{key}})
	if err := next.Validate(); err == nil || !strings.Contains(err.Error(), "is duplicated") {
		t.Errorf("one key for two people: %v", err)
	}
}
