package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// newTeam is one in which two of sre decide about send, with a passkey, and neither the sponsor nor the editor.
func newTeam() *approvaltest.Team {
	return &approvaltest.Team{
		Tenant: "acme", Sponsor: "eve", Serial: 7, Wrote: []string{"dan"},
		Deciders: []approvaltest.Decider{{Acts: []string{"send"}, Need: approval.Need{
			Source: "deciders 1", From: []approval.Count{{Group: "sre", Count: 2}}, Not: []string{approval.NotSponsor, approval.NotEditor},
			Proof: approval.StrengthPasskey, Escalate: []approval.Escalation{{After: 5 * time.Minute, To: "oncall"}}, Expires: time.Hour,
		}}},
		Persons: []approval.Person{
			{ID: "ann", Name: "Ann", Groups: []string{"sre"}}, {ID: "bob", Name: "Bob", Groups: []string{"sre"}},
			{ID: "dan", Name: "Dan", Groups: []string{"sre"}}, {ID: "eve", Name: "Eve", Groups: []string{"sre"}},
			{ID: "fay", Name: "Fay", Groups: []string{"oncall"}}, {ID: "gus", Name: "Gus"},
		},
	}
}

func withTeam(team *approvaltest.Team) func(*approval.Config) {
	return func(c *approval.Config) { c.Team = team }
}

// reserved returns a gate of the team, and a call that waits for its deciders.
func reserved(t *testing.T, change ...func(*approval.Config)) (*fixture, *approvaltest.Team, *approval.Batch, *approval.Request) {
	t.Helper()
	team := newTeam()
	f := newFixture(t, append([]func(*approval.Config){withTeam(team)}, change...)...)
	b, r := f.pending(call("send", "1"))
	return f, team, b, r
}

func TestTwoOfATeamDecide(t *testing.T) {
	f, team, b, r := reserved(t)
	if !r.PersonOnly || !r.TeamDecides() || r.Routing.Sponsor != "eve" {
		t.Errorf("the request does not say who decides: %+v", r.Routing)
	}
	wantText(t, r.Why, "the team's policy names who decides about this (deciders 1)")
	d := r.Approve("fine")
	f.resolve(b, team.Voted(r, d, "bob", "ann"))
	wantState(t, b, policy.StateApproved)
	if by := b.Outcome(0).Decision.By; by.User != "Ann, Bob" || by.Via != policy.ViaTeam {
		t.Errorf("decided by %v", by)
	}
	x, err := f.start(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.End(t.Context(), approval.StageCompleted, nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.recorder.Events() {
		if len(e.Votes) != 2 || e.Votes[0].Person != "ann" || e.Votes[1].Proof.Statement == "" || e.Sponsor != "eve" || e.By.User != "Ann, Bob" {
			t.Errorf("the record of %s does not show both votes: %+v", e.Kind, e.Votes)
		}
	}
	if set, _ := f.memory.Grants(t.Context(), "s"); len(set.Grants()) > 0 {
		t.Error("a yes of a team is kept")
	}
}

// Whatever does not let a reserved call run, in whatever way it comes.
func TestWhatDoesNotCountInATeam(t *testing.T) {
	restate := func(change func(*approval.Statement), credentials ...string) func(*approvaltest.Team, *approval.Request, *approval.Decision) {
		return func(team *approvaltest.Team, r *approval.Request, d *approval.Decision) {
			d.Votes = nil
			for _, c := range credentials {
				d.Votes = append(d.Votes, team.Vote(r, *d, c, change))
			}
		}
	}
	vote := func(credentials ...string) func(*approvaltest.Team, *approval.Request, *approval.Decision) {
		return restate(func(*approval.Statement) {}, credentials...)
	}
	via := func(v policy.Via, votes bool) func(*approvaltest.Team, *approval.Request, *approval.Decision) {
		return func(_ *approvaltest.Team, _ *approval.Request, d *approval.Decision) {
			if d.By.Via = v; !votes {
				d.Votes = nil
			}
		}
	}
	for name, change := range map[string]func(team *approvaltest.Team, r *approval.Request, d *approval.Decision){
		"nobody":           vote(),
		"one":              vote("ann"),
		"one twice":        vote("ann", "ann"),
		"two keys of one":  vote("ann", "ann/device"),
		"a weaker proof":   vote("ann", "bob/device"),
		"the sponsor":      vote("ann", "eve"),
		"the editor":       vote("ann", "dan"),
		"of no group":      vote("ann", "gus"),
		"a stranger":       vote("ann", "mallory"),
		"oncall too early": vote("ann", "fay"),
		"a removed vote":   func(_ *approvaltest.Team, _ *approval.Request, d *approval.Decision) { d.Votes = d.Votes[:1] },
		"who left since": func(team *approvaltest.Team, _ *approval.Request, _ *approval.Decision) {
			team.Persons = team.Persons[1:]
		},
		"who left the group": func(team *approvaltest.Team, _ *approval.Request, _ *approval.Decision) { team.Persons[0].Groups = nil },
		"a need that grew": func(team *approvaltest.Team, _ *approval.Request, _ *approval.Decision) {
			team.Deciders[0].Need.From[0].Count = 3
		},
		"another need": func(team *approvaltest.Team, _ *approval.Request, _ *approval.Decision) {
			team.Deciders[0].Need.Not = []string{"ann"}
		},
		"a team that fails": func(team *approvaltest.Team, _ *approval.Request, _ *approval.Decision) {
			team.Err = errors.New("too old")
		},
		"another request":     restate(func(s *approval.Statement) { s.Request = "x" }, "ann", "bob"),
		"another fingerprint": restate(func(s *approval.Statement) { s.Fingerprint[0] ^= 1 }, "ann", "bob"),
		"another view":        restate(func(s *approval.Statement) { s.View[0] ^= 1 }, "ann", "bob"),
		"another tenant":      restate(func(s *approval.Statement) { s.Tenant = "x" }, "ann", "bob"),
		"another serial":      restate(func(s *approval.Statement) { s.Serial = 8 }, "ann", "bob"),
		"expired":             restate(func(s *approval.Statement) { s.Expires = 1 }, "ann", "bob"),
		"kept longer":         restate(func(s *approval.Statement) { s.Remember.Keep = approval.KeepAlways }, "ann", "bob"),
		"another choice":      restate(func(s *approval.Statement) { s.Choice = "x" }, "ann", "bob"),
		"that stops":          restate(func(s *approval.Statement) { s.Stop = true }, "ann", "bob"),
		"a no":                restate(func(s *approval.Statement) { s.Answer = approval.AnswerDeny }, "ann", "bob"),
		"a result":            restate(func(s *approval.Statement) { s.Answer = approval.AnswerRespond }, "ann", "bob"),
		"changed arguments":   restate(func(s *approval.Statement) { s.Arguments = policy.DigestOf([]byte("{}")) }, "ann", "bob"),
		"one who disagrees": func(team *approvaltest.Team, r *approval.Request, d *approval.Decision) {
			d.Votes[1] = team.Vote(r, *d, "bob", func(s *approval.Statement) { s.Stop = true })
		},
		"one who denies": func(team *approvaltest.Team, r *approval.Request, d *approval.Decision) {
			d.Votes = append(d.Votes, team.Vote(r, *d, "gus/device", func(s *approval.Statement) { s.Answer = approval.AnswerDeny }))
		},
		"a forged signature": func(_ *approvaltest.Team, _ *approval.Request, d *approval.Decision) {
			d.Votes[0].Proof.Signature[0] ^= 1
		},
		"another's note": func(_ *approvaltest.Team, _ *approval.Request, d *approval.Decision) {
			d.Votes[0].Note = "run this too"
		},
		"a yes that is kept": func(_ *approvaltest.Team, _ *approval.Request, d *approval.Decision) { *d = d.Always() },
		"other arguments": func(_ *approvaltest.Team, _ *approval.Request, d *approval.Decision) {
			d.Arguments = []byte(`{"what":"2"}`)
		},
		"another answer": func(_ *approvaltest.Team, _ *approval.Request, d *approval.Decision) {
			d.Answer, d.Result = approval.AnswerRespond, "x"
		},
		"the terminal":              via(policy.ViaTerminal, false),
		"the inbox":                 via(policy.ViaInbox, false),
		"a command":                 via(policy.ViaCommand, false),
		"a program":                 via(policy.ViaProgram, false),
		"no way at all":             via("", false),
		"an agent's prompt":         via(policy.ViaAgentPrompt, false),
		"elicitation":               via(policy.ViaElicitation, false),
		"the browser":               via(policy.ViaBrowser, false),
		"a mode":                    via(policy.ViaMode, false),
		"the API":                   via(policy.ViaAPI, false),
		"a rule":                    via(policy.ViaRule, false),
		"votes over the terminal":   via(policy.ViaTerminal, true),
		"the team without votes":    via(policy.ViaTeam, false),
		"an unknown way with votes": via("x", true),
	} {
		t.Run(name, func(t *testing.T) {
			f, team, b, r := reserved(t)
			d := team.Voted(r, r.Approve(""), "ann", "bob")
			change(team, r, &d)
			if err := b.Resolve(t.Context(), d); err == nil || b.Outcome(0).Runs() || b.Outcome(0).State == policy.StateAnswered {
				t.Errorf("it counts (%v)", err)
			}
			if len(b.Pending()) != 1 {
				t.Error("the question is gone")
			}
			// The same, if another process settled it so.
			if o := settledElsewhere(t, f, team, &d, b).Outcome(0); o.Runs() || o.State == policy.StateAnswered {
				t.Error("it counts after it was settled elsewhere")
			}
		})
	}
}

// forced is a store in which somebody else always was faster, with this decision.
type forced struct {
	approval.RequestStore
	won *approval.Decision
}

func (s forced) Settle(_ context.Context, r *approval.Request, _ approval.Settlement) error {
	return &approval.SettledError{Request: r.ID, Settlement: s.won.Settled()}
}

func (s forced) Reopen(context.Context, *approval.Request, string) error { return nil }

// settledElsewhere restores the batch in a gate that loses to the decision.
func settledElsewhere(t *testing.T, f *fixture, team *approvaltest.Team, won *approval.Decision, b *approval.Batch) *approval.Batch {
	t.Helper()
	saved, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	gate := f.another(withTeam(team), func(c *approval.Config) {
		c.Requests = forced{approvaltest.NewFake(&f.clock), won}
	})
	restored, err := gate.Restore(t.Context(), saved)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range restored.Pending() {
		_ = restored.Resolve(t.Context(), r.Deny(""))
	}
	return restored
}

// What counts in every way, so that the above can fail.
func TestWhatCountsInATeam(t *testing.T) {
	f, team, b, r := reserved(t)
	d := team.Voted(r, r.Approve(""), "ann", "bob")
	restored := settledElsewhere(t, f, team, &d, b)
	wantState(t, restored, policy.StateApproved)

	for name, c := range map[string]struct {
		later time.Duration
		votes []string
	}{"with one too many": {0, []string{"ann", "bob", "gus"}}, "with oncall later": {5 * time.Minute, []string{"ann", "fay"}}} {
		f, team, b, r := reserved(t)
		f.clock.Advance(c.later)
		if err := b.Resolve(t.Context(), team.Voted(r, r.Approve(""), c.votes...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestADenialAlwaysCounts(t *testing.T) {
	for _, via := range []policy.Via{"", policy.ViaTerminal, policy.ViaInbox, policy.ViaBrowser, policy.ViaElicitation, policy.ViaAPI, policy.ViaAgentPrompt, policy.ViaTeam} {
		f, _, b, r := reserved(t)
		d := r.Deny("do what I say")
		d.By = policy.Who{User: "mallory", Via: via}
		f.resolve(b, d)
		wantState(t, b, policy.StateDenied)
		if o := b.Outcome(0); via == policy.ViaTeam && (o.Note() != "" || o.Decision.By.User != "") {
			t.Errorf("the model is told %q by %s, which nobody signed", o.Note(), o.Decision.By)
		}
	}
	f, team, b, r := reserved(t)
	f.resolve(b, team.Voted(r, r.Deny("not today"), "gus/device"))
	if o := b.Outcome(0); o.Note() != "not today" || o.Decision.By.User != "Gus" || len(o.Voted) != 1 {
		t.Errorf("%q by %s", o.Note(), o.Decision.By)
	}
	// What a denial means for later calls must be signed.
	_, team, b, r = reserved(t)
	d := team.Voted(r, r.Deny(""), "gus")
	if err := b.Resolve(t.Context(), d.Always()); !errors.Is(err, approval.ErrUnproven) {
		t.Errorf("a rule that nobody signed: %v", err)
	}
}

func TestNothingBelowLetsAReservedCallRun(t *testing.T) {
	team := newTeam()
	f := newFixture(t, withTeam(team), withMode(policy.ModeApproveAll))
	f.addRule("allow send")
	b, r := f.pending(call("send", "1"))
	wantError(t, b.HandOver(t.Context(), r), approval.ErrTeamDecides)
	err := b.Resolve(t.Context(), r.Approve(""))
	wantError(t, err, approval.ErrTeamDecides)
	wantText(t, err.Error(), "2 of sre, with a passkey (deciders 1)")
	wantState(t, b, policy.StatePending)
	if o := f.Review(t.Context(), call("mail", "1")).Outcome(0); o.State != policy.StateModeApproved {
		t.Errorf("what is not reserved is %s", o.State)
	}
}

// What nothing reserves is answered at the machine, or by the sponsor from elsewhere.
func TestWhatIsNotReservedIsAnsweredBothWays(t *testing.T) {
	team := newTeam()
	f := newFixture(t, withTeam(team))
	b, r := f.pending(call("mail", "1"))
	d := r.Approve("")
	d.By.Via = policy.ViaTerminal
	f.resolve(b, d)
	if _, err := f.start(b); err != nil {
		t.Error(err)
	}
	b, r = f.pending(call("mail", "2"))
	if err := b.Resolve(t.Context(), team.Voted(r, r.Approve(""), "ann")); !errors.Is(err, approval.ErrUnproven) {
		t.Errorf("somebody else's yes: %v", err)
	}
	f.resolve(b, team.Voted(r, r.Approve(""), "eve/device"))
	if _, err := f.start(b); err != nil {
		t.Error(err)
	}
	// The sponsor may have it kept, by a signature.
	b, r = f.pending(call("mail", "3"))
	f.resolve(b, team.Voted(r, r.Approve("").Always("allow mail"), "eve"))
	wantState(t, f.Review(t.Context(), call("mail", "4")), policy.StateAutoApproved)
}

// A policy that comes while a call waits, or after it was answered, holds for it.
func TestAPolicyThatComesMeanwhile(t *testing.T) {
	reserve := func(team *approvaltest.Team) {
		team.Deciders = append(team.Deciders, approvaltest.Decider{Acts: []string{"mail"}, Need: team.Deciders[0].Need})
	}
	team := newTeam()
	f := newFixture(t, withTeam(team))
	b, r := f.pending(call("mail", "1"))
	team.Change(reserve)
	if again := b.Pending()[0]; again.ID == r.ID || !again.TeamDecides() {
		t.Error("the request does not say who decides now")
	}

	team = newTeam()
	f = newFixture(t, withTeam(team))
	b = f.approved(call("mail", "1"))
	team.Change(reserve)
	if _, err := f.start(b); !errors.Is(err, approval.ErrChanged) {
		t.Errorf("it starts: %v", err)
	}
	wantState(t, b, policy.StatePending)

	f, team, b, r = reserved(t)
	f.resolve(b, team.Voted(r, r.Approve(""), "ann", "bob"))
	team.Change(func(team *approvaltest.Team) { team.Persons[0].Groups = nil })
	if _, err := f.start(b); !errors.Is(err, approval.ErrChanged) {
		t.Errorf("it starts with the vote of somebody who left: %v", err)
	}
}

// The same for what only a person may answer anyway.
func TestAPolicyThatComesForWhatAPersonAnswers(t *testing.T) {
	team := newTeam()
	f := newFixture(t, withTeam(team))
	act := policy.Act{Name: "mail", Target: policy.TextTarget("x"), Verdict: policy.VerdictAsk, PersonOnly: true}
	f.tools.Set("mail", approval.Proposal{Acts: []policy.Act{act}})
	b, r := f.pending(call("mail", "1"))
	if r.TeamDecides() {
		t.Fatal("it is reserved already")
	}
	team.Deciders = append(team.Deciders, approvaltest.Decider{Acts: []string{"mail"}, Need: team.Deciders[0].Need}) // and no notice of it
	d := r.Approve("")
	d.By.Via = policy.ViaTerminal
	wantError(t, b.Resolve(t.Context(), d), approval.ErrTeamDecides)
	if again := b.Pending()[0]; again.ID == r.ID || !again.TeamDecides() {
		t.Error("the request does not say who decides now")
	}
}

// A batch that was saved says who voted. What somebody writes there does not count by itself.
func TestASavedYesIsCountedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o map[string]any)
		runs   bool
	}{
		"as it was": {func(map[string]any) {}, true},
		"by the terminal": {func(o map[string]any) {
			d := o["decision"].(map[string]any)
			d["by"] = map[string]any{"via": "terminal"}
			delete(d, "votes")
			delete(o, "voted")
			delete(o, "routing")
		}, false},
		"by the terminal, here": {func(o map[string]any) {
			d := o["decision"].(map[string]any)
			d["by"] = map[string]any{"via": "terminal"}
			o["routing"].(map[string]any)["need"].(map[string]any)["here"] = true
		}, false},
		"without a vote": {func(o map[string]any) {
			d := o["decision"].(map[string]any)
			d["votes"] = d["votes"].([]any)[:1]
		}, false},
		"with another sponsor": {func(o map[string]any) { o["routing"].(map[string]any)["sponsor"] = "gus" }, false},
		"with a lower need":    {func(o map[string]any) { o["routing"].(map[string]any)["need"].(map[string]any)["from"] = nil }, true}, // what is asked now counts
	} {
		f, team, b, r := reserved(t)
		f.resolve(b, team.Voted(r, r.Approve(""), "ann", "bob"))
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		var saved map[string]any
		if err := json.Unmarshal(data, &saved); err != nil {
			t.Fatal(err)
		}
		c.change(saved["entries"].([]any)[0].(map[string]any)["outcome"].(map[string]any))
		if data, err = json.Marshal(saved); err != nil {
			t.Fatal(err)
		}
		restored, err := f.another(withTeam(team)).Restore(t.Context(), data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := f.start(restored); (err == nil) != c.runs {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same for a result that people gave in place of the call: nothing starts later that would count it.
func TestASavedResultIsCountedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o map[string]any)
		team   func(*approvaltest.Team)
		holds  bool
	}{
		"as it was": {holds: true},
		"by the terminal": {change: func(o map[string]any) {
			d := o["decision"].(map[string]any)
			d["by"] = map[string]any{"via": "terminal"}
			delete(d, "votes")
		}},
		"with another result": {change: func(o map[string]any) { o["decision"].(map[string]any)["result"] = "forged" }},
		"without a vote": {change: func(o map[string]any) {
			d := o["decision"].(map[string]any)
			d["votes"] = d["votes"].([]any)[:1]
		}},
		"by somebody who has left since": {team: func(team *approvaltest.Team) { team.Persons = team.Persons[1:] }},
	} {
		f, team, b, r := reserved(t)
		f.resolve(b, team.Voted(r, r.Respond("a result"), "ann", "bob"))
		if o := b.Outcome(0); o.State != policy.StateAnswered {
			t.Fatalf("%s: it is %s: %s", name, o.State, o.Why)
		}
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		var saved map[string]any
		if err := json.Unmarshal(data, &saved); err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(saved["entries"].([]any)[0].(map[string]any)["outcome"].(map[string]any))
		}
		if c.team != nil {
			c.team(team)
		}
		if data, err = json.Marshal(saved); err != nil {
			t.Fatal(err)
		}
		restored, err := f.another(withTeam(team)).Restore(t.Context(), data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := policy.StatePending
		if c.holds {
			want = policy.StateAnswered
		}
		o := restored.Outcome(0)
		if o.State != want {
			t.Errorf("%s: it is %s (%s), want %s", name, o.State, o.Why, want)
		}
		if !c.holds && (o.Decision != nil || !restored.Pending()[0].TeamDecides() || restored.Pending()[0].ID == r.ID) {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// A request that was put aside stays the one that people vote on, unless it is another's by now.
func TestARequestThatWasPutAside(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r map[string]any, team *approvaltest.Team)
		same   bool
	}{
		"as it was":      {func(map[string]any, *approvaltest.Team) {}, true},
		"a newer policy": {func(_ map[string]any, team *approvaltest.Team) { team.Serial++ }, true},
		"forged sponsor": {func(r map[string]any, _ *approvaltest.Team) { r["routing"].(map[string]any)["sponsor"] = "gus" }, false},
		"forged here": {func(r map[string]any, _ *approvaltest.Team) {
			r["routing"].(map[string]any)["need"].(map[string]any)["here"] = true
		}, false},
		"no routing": {func(r map[string]any, _ *approvaltest.Team) { delete(r, "routing") }, false},
	} {
		f, team, b, r := reserved(t)
		vote := team.Voted(r, r.Approve(""), "ann", "bob")
		data, _ := json.Marshal(b)
		var saved map[string]any
		if err := json.Unmarshal(data, &saved); err != nil {
			t.Fatal(err)
		}
		c.change(saved["entries"].([]any)[0].(map[string]any)["request"].(map[string]any), team)
		data, _ = json.Marshal(saved)
		restored, err := f.another(withTeam(team)).Restore(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		err = restored.Resolve(t.Context(), vote)
		if (err == nil) != c.same || restored.Outcome(0).Runs() != c.same {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAGateWithoutATeamTakesNoVotes(t *testing.T) {
	f, team, b, r := reserved(t)
	vote := team.Voted(r, r.Approve(""), "ann", "bob")
	data, _ := json.Marshal(b)
	alone, err := f.another().Restore(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	now := alone.Pending()[0]
	vote.Request = now.ID
	if err := alone.Resolve(t.Context(), vote); !errors.Is(err, approval.ErrUnproven) {
		t.Errorf("votes: %v", err)
	}
	f.resolve(b, team.Voted(r, r.Approve(""), "ann", "bob"))
	data, _ = json.Marshal(b)
	if alone, err = f.another().Restore(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	if _, err := f.start(alone); err == nil {
		t.Error("a call that a team approved runs without one")
	}
}

// Who changes the arguments starts at no votes: those who agree have to have seen the changed call.
func TestVotesOnAChangedCall(t *testing.T) {
	f, team, b, r := reserved(t)
	changed := []byte(`{"what":"2"}`)
	f.resolve(b, team.Voted(r, r.Change(changed, ""), "ann", "bob"))
	again := b.Pending()
	if len(again) != 1 || again[0].ID == r.ID || string(again[0].Call.Arguments) != string(changed) {
		t.Fatalf("it is not asked again: %v", b.Outcomes())
	}
	if err := b.Resolve(t.Context(), team.Voted(r, r.Approve(""), "ann", "bob")); err == nil {
		t.Error("votes on the call as it was count")
	}
	f.resolve(b, team.Voted(again[0], again[0].Approve(""), "ann", "bob"))
	if _, err := f.start(b); err != nil {
		t.Error(err)
	}

	// With the changed call's own fingerprint it is its yes.
	f, team, b, r = reserved(t)
	shown, err := b.Preview(t.Context(), r.ID, changed)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Resolve(t.Context(), team.Voted(shown, shown.Change(changed, ""), "ann")); !errors.Is(err, approval.ErrUnproven) {
		t.Errorf("one vote: %v", err)
	}
	f.resolve(b, team.Voted(shown, shown.Change(changed, ""), "ann", "bob"))
	wantState(t, b, policy.StateApproved)
	if _, err := f.start(b); err != nil {
		t.Error(err)
	}
	// Nobody at the machine changes a call into one that is reserved.
	f = newFixture(t, withTeam(team))
	team.Change(func(team *approvaltest.Team) {
		team.Deciders[0].Acts = []string{"mail(" + policy.DigestOf(changed).String() + ")"}
	})
	b, r = f.pending(call("mail", "1"))
	if shown, err = b.Preview(t.Context(), r.ID, changed); err != nil {
		t.Fatal(err)
	}
	d := shown.Change(changed, "")
	d.By.Via = policy.ViaTerminal
	wantError(t, b.Resolve(t.Context(), d), approval.ErrTeamDecides)
}

func TestARequestOfATeamExpires(t *testing.T) {
	f, team, b, r := reserved(t)
	yes := team.Voted(r, r.Approve(""), "ann", "bob")
	yes.At = f.clock.Now() // a store says that it was given in time
	f.clock.Advance(time.Hour)
	wantError(t, b.Resolve(t.Context(), yes), approval.ErrSettled)
	wantState(t, b, policy.StateExpired)

	// A time before the question does not revive a vote.
	f, team, b, r = reserved(t)
	old := team.Voted(r, r.Approve(""), "ann")
	old.Votes = append(old.Votes, team.Vote(r, old, "bob", func(s *approval.Statement) { s.Expires = r.Created.Add(time.Minute).Unix() }))
	f.clock.Advance(10 * time.Minute)
	old.At = r.Created.Add(-time.Hour)
	wantError(t, b.Resolve(t.Context(), old), approval.ErrUnproven)

	synctest.Test(t, func(t *testing.T) {
		team := newTeam()
		f := newFixture(t, withTeam(team), func(c *approval.Config) { c.Clock = time.Now })
		b, r := f.pending(call("send", "1"))
		<-r.Done()
		wantState(t, b, policy.StateExpired)
		want := "too few people answered in time; it needed 2 of sre"
		if err := b.Outcome(0).Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v", err)
		}
		if took := time.Since(r.Created); took != time.Hour {
			t.Errorf("it expired after %v", took)
		}
	})
}

// A team that says nothing refuses.
func TestATeamThatFailsRefuses(t *testing.T) {
	team := newTeam()
	f := newFixture(t, withTeam(team))
	team.Err = errors.New("its policy is too old")
	for _, tool := range []string{"send", "mail", "read"} {
		o := f.Review(t.Context(), call(tool, "1")).Outcome(0)
		if o.State != policy.StateDenied || !strings.Contains(o.Why, "too old") {
			t.Errorf("%s: %s (%s)", tool, o.State, o.Why)
		}
	}
	team.Err = nil
	team.Sponsor = ""
	if o := f.Review(t.Context(), call("mail", "1")).Outcome(0); o.State != policy.StateBlocked {
		t.Errorf("an agent without a sponsor: %s", o.State)
	}
}

// The decision that a server makes of a tally is the one that the gate takes.
func TestTheDecisionOfATally(t *testing.T) {
	f, team, b, r := reserved(t)
	view, err := r.ViewDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := r.Respond("done by hand")
	votes := team.Voted(r, d, "ann", "bob").Votes
	tally := r.Count(r.Routing.Need, votes, team, view, 0)
	if _, err := r.Voted(tally, nil, "done by nobody"); !errors.Is(err, approval.ErrUnproven) {
		t.Errorf("another result: %v", err)
	}
	made, err := r.Voted(tally, nil, "done by hand")
	if err != nil {
		t.Fatal(err)
	}
	f.resolve(b, made)
	wantState(t, b, policy.StateAnswered)
	if e := f.recorder.Events(); !slices.ContainsFunc(e, func(e approval.Event) bool { return len(e.Votes) == 2 }) {
		t.Error("the votes are not on record")
	}
	if _, err := r.Voted(r.Count(r.Routing.Need, votes[:1], team, view, 0), nil, "done by hand"); !errors.Is(err, approval.ErrOpen) {
		t.Errorf("one vote: %v", err)
	}
}
