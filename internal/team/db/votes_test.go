//go:build all && linux

package db_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

func TestAQuorumSettlesARequest(t *testing.T) {
	m, d, g, _ := fixture(t)
	r := m.ask(t, d, g, "r1", need(2))
	first, err := d.Vote(t.Context(), "r1", m.vote(t, "p_bob", r, r.Approve("fine")), m.court())
	if err != nil || first.State != policy.StatePending || first.Settled {
		t.Fatalf("after one vote: %+v, %v", first, err)
	}
	second := m.vote(t, "p_cem", r, r.Approve("and fine by me"))
	out, err := d.Vote(t.Context(), "r1", second, m.court())
	if err != nil || out.State != policy.StateApproved || !out.Settled {
		t.Fatalf("after two votes: %+v, %v", out, err)
	}
	// The answer to a vote may be lost, and the vote come again.
	if out, err = d.Vote(t.Context(), "r1", second, m.court()); err != nil || out.State != policy.StateApproved || out.Settled {
		t.Errorf("the same vote again: %+v, %v", out, err)
	}
	if _, err := d.Vote(t.Context(), "r1", m.vote(t, "p_dia", r, r.Deny("")), m.court()); !errors.Is(err, db.ErrSettled) {
		t.Errorf("a vote too late: %v", err)
	}
	news, err := d.NewsFor(t.Context(), g.ID, 0)
	if err != nil || len(news.Answers) != 1 || news.Cursor != 1 {
		t.Fatalf("news: %+v, %v", news, err)
	}
	a := news.Answers[0]
	tally := r.Count(r.Routing.Need, a.Votes, m, r.View, 0)
	if tally.State != policy.StateApproved || a.State != policy.StateApproved || a.Note != "fine\nand fine by me" || a.Decision.Answer != approval.AnswerApprove {
		t.Errorf("the gate counts %+v of %+v", tally, a)
	}
	if again, err := d.NewsFor(t.Context(), g.ID, news.Cursor); err != nil || len(again.Answers) != 0 || again.Cursor != 1 {
		t.Errorf("no news: %+v, %v", again, err)
	}
	// A cursor from before a backup was put back, or from a replica that lied.
	if again, err := d.NewsFor(t.Context(), g.ID, 1<<40); err != nil || len(again.Answers) != 1 || again.Cursor != 1 {
		t.Errorf("a cursor that was never given: %+v, %v", again, err)
	}
}

// Answers that are large together come one after the other: a bridge that cannot read them would hear of none any more.
func TestNewsThatAreLarge(t *testing.T) {
	m, d, g, _ := fixture(t)
	for i := range 3 {
		id := fmt.Sprint("r", i)
		r := m.ask(t, d, g, id, need(1))
		yes := r.Approve("")
		yes.Arguments = json.RawMessage(`{"a":"` + strings.Repeat("x", 2<<20) + `"}`)
		if out, err := d.Vote(t.Context(), id, m.vote(t, "p_bob", r, yes), m.court()); err != nil || !out.Settled {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	cursor := int64(0)
	for i := range 3 {
		news, err := d.NewsFor(t.Context(), g.ID, cursor)
		if err != nil || len(news.Answers) != 1 || news.Answers[0].Request != fmt.Sprint("r", i) {
			t.Fatalf("after %d: %d answers up to %d, %v", cursor, len(news.Answers), news.Cursor, err)
		}
		cursor = news.Cursor
	}
}

// Questions that are large together come in several pages, each of which fits into memory. None is left out.
func TestAttack_QuestionsThatAreLarge(t *testing.T) {
	m, d, g, _ := fixture(t)
	for i := range 7 {
		var q map[string]any
		if err := json.Unmarshal(m.question(t, g, fmt.Sprint("r", i), need(1)).Request, &q); err != nil {
			t.Fatal(err)
		}
		q["view"] = present.View{Kind: present.KindText, Content: strings.Repeat("x", 3<<20)}
		body, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		signed := wire.Signed{Request: body, Signature: wire.SignRequest(m.gates[g.ID], body)}
		if taken, err := d.Ask(t.Context(), g, []wire.Signed{signed}); err != nil || len(taken.Requests) != 1 {
			t.Fatalf("%+v, %v", taken, err)
		}
	}
	for name, list := range map[string]func(db.Page) ([]db.Request, string, error){
		"open": func(p db.Page) ([]db.Request, string, error) {
			return d.OpenFor(t.Context(), "p_bob", []string{"sre"}, p)
		},
		"history": func(p db.Page) ([]db.Request, string, error) { return d.History(t.Context(), db.Filter{}, p) },
	} {
		seen, p := map[string]bool{}, db.Page{}
		for pages := 0; pages == 0 || p.After != ""; pages++ {
			rows, next, err := list(p)
			if err != nil || len(rows) > 3 || pages > 7 {
				t.Fatalf("%s: %d questions in a page, %v", name, len(rows), err)
			}
			for _, r := range rows {
				seen[r.ID] = true
			}
			p.After = next
		}
		if len(seen) != 7 {
			t.Errorf("%s: %d of 7", name, len(seen))
		}
	}
}

func TestArgumentsStayByteForByte(t *testing.T) {
	m, d, g, _ := fixture(t)
	r := m.ask(t, d, g, "r1", need(1))
	decision := r.Approve("")
	decision.Arguments = []byte(`{"b":1.0, "a":2}`)
	if _, err := d.Vote(t.Context(), "r1", m.vote(t, "p_bob", r, decision), m.court()); !errors.Is(err, db.ErrVoid) {
		t.Errorf("arguments that would change on their way: %v", err)
	}
	decision.Arguments = []byte(`{"b":1.0,"a":"\u00e9 <&>"}`)
	if _, err := d.Vote(t.Context(), "r1", m.vote(t, "p_bob", r, decision), m.court()); err != nil {
		t.Fatal(err)
	}
	news, err := d.NewsFor(t.Context(), g.ID, 0)
	if err != nil || len(news.Answers) != 1 {
		t.Fatal(err)
	}
	s, err := approval.ParseStatement(news.Answers[0].Votes[0].Proof.Statement)
	if err != nil || news.Answers[0].Decision.States(r.View).Arguments != s.Arguments {
		t.Errorf("arguments are %s, %v", news.Answers[0].Decision.Arguments, err)
	}
}

// An answer that had no effect at the gate is asked again, and the votes for it are gone.
func TestAnAnswerWithoutEffectIsAskedAgain(t *testing.T) {
	m, d, g, _ := fixture(t)
	r := m.ask(t, d, g, "r1", need(1))
	if out, err := d.Vote(t.Context(), "r1", m.vote(t, "p_bob", r, r.Approve("")), m.court()); err != nil || !out.Settled {
		t.Fatalf("%+v, %v", out, err)
	}
	before, err := d.Request(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	void := []wire.Ended{{Request: "r1", State: policy.StatePending, Why: "its policy is newer", Heard: 1}}
	for range 2 {
		if err := d.End(t.Context(), g.ID, void); err != nil {
			t.Fatal(err)
		}
		got, err := d.Request(t.Context(), "r1")
		if err != nil || got.State != policy.StatePending || len(got.Voted) != 0 || got.Decision != nil || got.Version != before.Version+1 {
			t.Errorf("it is %s at %d with votes of %v, %v", got.State, got.Version, got.Voted, err)
		}
	}
	if out, err := d.Vote(t.Context(), "r1", m.vote(t, "p_cem", r, r.Approve("")), m.court()); err != nil || !out.Settled {
		t.Errorf("a vote after that: %+v, %v", out, err)
	}
	if news, err := d.NewsFor(t.Context(), g.ID, 1); err != nil || len(news.Answers) != 1 || news.Cursor != 2 {
		t.Errorf("news: %+v, %v", news, err)
	}
	// Somebody who recorded what the machine said sends it again: it is about the answer before.
	if err := d.End(t.Context(), g.ID, void); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Request(t.Context(), "r1"); err != nil || got.State != policy.StateApproved || len(got.Voted) != 1 {
		t.Errorf("after a replay it is %s with votes of %v, %v", got.State, got.Voted, err)
	}
	// What the machine ended itself stays so.
	m.ask(t, d, g, "r2", need(1))
	for _, state := range []policy.State{policy.StateDenied, policy.StatePending} {
		if err := d.End(t.Context(), g.ID, []wire.Ended{{Request: "r2", State: state}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := d.Request(t.Context(), "r2"); err != nil || got.State != policy.StateDenied {
		t.Errorf("ended at the machine: %s, %v", got.State, err)
	}
}

func TestVotesThatDoNotCount(t *testing.T) {
	m, d, g, _ := fixture(t)
	m.person(g.Sponsor, "sre")
	n := need(1)
	n.Not = []string{approval.NotSponsor}
	r := m.ask(t, d, g, "r1", n)
	other := m.ask(t, d, g, "r2", n)
	forged := m.vote(t, "p_bob", r, r.Approve(""))
	forged.Vote.Proof.Signature[0] ^= 1
	noted := m.vote(t, "p_bob", r, r.Approve("yes"))
	noted.Vote.Note = "no"
	widened := m.vote(t, "p_bob", r, r.Approve(""))
	widened.Decision.Remember.Keep = approval.KeepAlways
	expired := m.vote(t, "p_bob", r, r.Approve(""))
	s, err := approval.ParseStatement(expired.Vote.Proof.Statement)
	if err != nil {
		t.Fatal(err)
	}
	s.Expires = time.Now().Add(-time.Hour).Unix()
	expired = m.sign(t, "p_bob", s, expired.Decision)
	for name, b := range map[string]db.Ballot{
		"a forged signature": forged, "another note": noted, "a wider memory": widened, "an expired statement": expired,
		"the sponsor's yes": m.vote(t, g.Sponsor, r, r.Approve("")), "a vote on another request": m.vote(t, "p_bob", other, other.Approve("")),
	} {
		if _, err := d.Vote(t.Context(), "r1", b, m.court()); !errors.Is(err, db.ErrVoid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := d.Request(t.Context(), "r1"); err != nil || got.State != policy.StatePending || len(got.Voted) != 0 {
		t.Errorf("it is %s with votes of %v, %v", got.State, got.Voted, err)
	}
	if out, err := d.Vote(t.Context(), "r1", m.vote(t, g.Sponsor, r, r.Deny("no")), m.court()); err != nil || out.State != policy.StateDenied {
		t.Errorf("a sponsor's no: %+v, %v", out, err)
	}
}

// A vote that has expired when the next one comes does not settle anything: the gate would count it no more, and both
// votes would be lost. Whoever gave it can give another.
func TestAVoteThatExpiresMeanwhile(t *testing.T) {
	m, d, g, _ := fixture(t)
	r := m.ask(t, d, g, "r1", need(2))
	brief := m.vote(t, "p_bob", r, r.Approve(""))
	s, err := approval.ParseStatement(brief.Vote.Proof.Statement)
	if err != nil {
		t.Fatal(err)
	}
	s.Expires = time.Now().Unix() + 2
	if _, err := d.Vote(t.Context(), "r1", m.sign(t, "p_bob", s, brief.Decision), m.court()); err != nil {
		t.Fatal(err)
	}
	voted := func() string {
		got, err := d.Request(t.Context(), "r1")
		return fmt.Sprint(got.Voted, err)
	}
	if text := voted(); text != "[p_bob] <nil>" {
		t.Errorf("the row says %s", text)
	}
	<-time.After(time.Until(time.Unix(s.Expires, 0)))
	if text := voted(); text != "[] <nil>" {
		t.Errorf("the row says %s after the vote has expired", text)
	}
	if out, err := d.Vote(t.Context(), "r1", m.vote(t, "p_cem", r, r.Approve("")), m.court()); err != nil || out.State != policy.StatePending {
		t.Errorf("with a vote that has expired: %s, %v", out.State, err)
	}
	s.Expires = 1 << 55 // later than a database knows
	if out, err := d.Vote(t.Context(), "r1", m.sign(t, "p_bob", s, brief.Decision), m.court()); err != nil || out.State != policy.StateApproved {
		t.Errorf("a vote anew: %s, %v", out.State, err)
	}
}

func TestAVoteCanBeReplacedWhileItIsOpen(t *testing.T) {
	m, d, g, _ := fixture(t)
	r := m.ask(t, d, g, "r1", need(2))
	for _, keep := range []approval.Keep{approval.KeepNone, approval.KeepSession} {
		decision := r.Approve("")
		decision.Remember.Keep = keep
		if out, err := d.Vote(t.Context(), "r1", m.vote(t, "p_bob", r, decision), m.court()); err != nil || len(out.Tally.Counted) != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if out, err := d.Vote(t.Context(), "r1", m.vote(t, "p_cem", r, r.Approve("")), m.court()); err != nil || out.State != policy.StatePending {
		t.Fatalf("votes that do not agree: %+v, %v", out, err)
	}
	if out, err := d.Vote(t.Context(), "r1", m.vote(t, "p_bob", r, r.Approve("")), m.court()); err != nil || out.State != policy.StateApproved {
		t.Fatalf("votes that agree: %+v, %v", out, err)
	}
}

// Eight people vote on each of many requests, through two replicas: one vote settles each, and the gate
// gets each answer once, with votes that make the quorum, in the order of its cursor.
func TestRacingVotesSettleOnce(t *testing.T) {
	m, d, g, dsn := fixture(t)
	others := open(t, dsn)
	replicas := []*db.DB{d, others}
	const requests, voters, quorum = 40, 8, 3
	var asked []db.Request
	for i := range requests {
		asked = append(asked, m.ask(t, d, g, fmt.Sprintf("r%02d", i), need(quorum)))
	}
	for v := range voters {
		m.person(fmt.Sprintf("v%d", v), "sre")
	}
	settled := make([]atomic.Int64, requests)
	var all sync.WaitGroup
	for v := range voters {
		all.Go(func() {
			for i, r := range asked {
				out, err := replicas[(v+i)%2].Vote(t.Context(), r.ID, m.vote(t, fmt.Sprintf("v%d", v), r, r.Approve("")), m.court())
				if err != nil && !errors.Is(err, db.ErrSettled) {
					t.Error(err)
				}
				if out.Settled {
					settled[i].Add(1)
				}
			}
		})
	}
	got := map[string]int{}
	cursor := int64(0)
	read := func() {
		news, err := others.NewsFor(t.Context(), g.ID, cursor)
		if err != nil {
			t.Error(err)
			return
		}
		cursor = news.Cursor
		for _, a := range news.Answers {
			got[a.Request]++
			i := int(a.Request[1]-'0')*10 + int(a.Request[2]-'0')
			if tally := asked[i].Count(asked[i].Routing.Need, a.Votes, m, asked[i].View, 0); tally.State != policy.StateApproved || len(a.Votes) != quorum {
				t.Errorf("%s: %d votes count as %s", a.Request, len(a.Votes), tally.State)
			}
		}
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		read()
	}
	for i := range settled {
		if n := settled[i].Load(); n != 1 || got[asked[i].ID] != 1 {
			t.Errorf("%s was settled %d times and answered %d times", asked[i].ID, n, got[asked[i].ID])
		}
	}
}

// Whoever changes rows can lose a question and cannot answer one.
func TestChangedRowsAreNoticed(t *testing.T) {
	m, d, g, dsn := fixture(t)
	fresh := func(id string, n approval.Need) db.Request { return m.ask(t, d, g, id, n) }

	// A need that is lowered in its column: the signed one counts.
	r := fresh("need", need(2))
	sql(t, dsn, `UPDATE team.requests SET need = jsonb_set(need, '{from,0,count}', '1') WHERE id = 'need'`)
	replica := open(t, dsn)
	if out, err := replica.Vote(t.Context(), "need", m.vote(t, "p_bob", r, r.Approve("")), m.court()); err != nil || out.State != policy.StatePending {
		t.Errorf("a lowered need: %+v, %v", out, err)
	}
	// A body that asks for less.
	r = fresh("body", need(2))
	sql(t, dsn, `UPDATE team.requests SET body = convert_to(replace(convert_from(body, 'UTF8'), '"count":2', '"count":1'), 'UTF8') WHERE id = 'body'`)
	if _, err := replica.Vote(t.Context(), "body", m.vote(t, "p_bob", r, r.Approve("")), m.court()); !errors.Is(err, db.ErrChanged) {
		t.Errorf("a changed body: %v", err)
	}
	// A view that shows something else.
	fresh("view", need(1))
	sql(t, dsn, `UPDATE team.requests SET body = convert_to(replace(convert_from(body, 'UTF8'), 'delete view', 'delete nothing'), 'UTF8') WHERE id = 'view'`)
	if _, err := replica.Request(t.Context(), "view"); !errors.Is(err, db.ErrChanged) {
		t.Errorf("a changed view: %v", err)
	}
	// One row that cannot be read is left out of a page, and is in the way of no other.
	sql(t, dsn, `UPDATE team.requests SET body = 'x' WHERE id = 'body'`)
	if list, _, err := replica.OpenFor(t.Context(), "p_bob", []string{"sre"}, db.Page{}); err != nil || len(list) != 1 || list[0].ID != "need" {
		t.Errorf("a page with changed rows: %d, %v", len(list), err)
	}
	if list, next, err := replica.History(t.Context(), db.Filter{}, db.Page{Limit: 2}); err != nil || len(list) != 0 || next == "" {
		t.Errorf("a page of changed rows: %d, %q, %v", len(list), next, err)
	}
	// A vote that somebody copies to another person, and a yes made of a no.
	r = fresh("vote", need(2))
	if _, err := d.Vote(t.Context(), "vote", m.vote(t, "p_bob", r, r.Approve("")), m.court()); err != nil {
		t.Fatal(err)
	}
	sql(t, dsn, `INSERT INTO team.votes SELECT tenant, request, 'p_dia', vote, decision FROM team.votes WHERE request = 'vote'`)
	sql(t, dsn, `INSERT INTO team.votes SELECT tenant, request, 'p_eve', convert_to(replace(convert_from(vote, 'UTF8'), 'p_bob', 'p_cem'), 'UTF8'), decision FROM team.votes WHERE request = 'vote' AND person = 'p_bob'`)
	if err := d.Sweep(t.Context(), m.court()); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Request(t.Context(), "vote"); err != nil || got.State != policy.StatePending {
		t.Errorf("copied votes: %s, %v", got.State, err)
	}
	// An answer without votes: the gate counts none.
	r = fresh("state", need(1))
	sql(t, dsn, `UPDATE team.requests SET state = 'approved', news = 1000 WHERE id = 'state'`)
	news, err := d.NewsFor(t.Context(), g.ID, 999)
	if err != nil || len(news.Answers) != 1 {
		t.Fatalf("%+v, %v", news, err)
	}
	if tally := r.Count(r.Routing.Need, news.Answers[0].Votes, m, r.View, 0); tally.State != policy.StatePending {
		t.Errorf("the gate counts %+v", tally)
	}
}

func TestEscalationAddsPeopleAndTimeDenies(t *testing.T) {
	m, d, g, dsn := fixture(t)
	m.person("p_oli", "oncall")
	n := need(2)
	n.Escalate = []approval.Escalation{{After: 5 * time.Minute, To: "oncall"}, {After: 20 * time.Minute, To: "leads"}}
	r := m.ask(t, d, g, "r1", n)
	for _, who := range []string{"p_bob", "p_oli"} {
		if out, err := d.Vote(t.Context(), "r1", m.vote(t, who, r, r.Approve("")), m.court()); err != nil || out.State != policy.StatePending {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	r2 := m.ask(t, d, g, "r2", n)
	open := func(person, group string) int {
		list, _, err := d.OpenFor(t.Context(), person, []string{group}, db.Page{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if open("p_oli", "oncall") != 0 || open("p_bob", "sre") != 2 {
		t.Error("who is asked before the escalation")
	}
	later := func(by time.Duration) {
		sql(t, dsn, `UPDATE team.requests SET created = created - $1::interval, escalates_at = escalates_at - $1::interval, expires_at = expires_at - $1::interval`, by)
		if err := d.Sweep(t.Context(), m.court()); err != nil {
			t.Fatal(err)
		}
	}
	later(6 * time.Minute)
	if got, err := d.Request(t.Context(), "r1"); err != nil || got.State != policy.StateApproved {
		t.Errorf("a vote from before the escalation: %s, %v", got.State, err)
	}
	if open("p_oli", "oncall") != 1 {
		t.Error("who is asked after the escalation")
	}
	if got, err := d.Request(t.Context(), "r2"); err != nil || got.State != policy.StatePending || got.Escalates.IsZero() {
		t.Errorf("it is %s and escalates at %v, %v", got.State, got.Escalates, err)
	}
	later(time.Hour)
	if got, err := d.Request(t.Context(), "r2"); err != nil || got.State != policy.StateExpired {
		t.Errorf("after its time: %s, %v", got.State, err)
	}
	if _, err := d.Vote(t.Context(), "r2", m.vote(t, "p_bob", r2, r2.Approve("")), m.court()); !errors.Is(err, db.ErrSettled) {
		t.Errorf("a vote after its time: %v", err)
	}
	news, err := d.NewsFor(t.Context(), g.ID, 0)
	if err != nil || len(news.Answers) != 2 || news.Answers[1].State.Runs() {
		t.Errorf("news: %+v, %v", news, err)
	}
	kinds := map[db.NoticeKind]int{}
	notices, err := d.TakeNotices(t.Context(), 100, time.Minute)
	for _, n := range notices {
		kinds[n.Kind]++
	}
	if err != nil || kinds[db.NoticeOpened] != 2 || kinds[db.NoticeEscalated] != 1 || kinds[db.NoticeSettled] != 2 {
		t.Errorf("notices: %v, %v", kinds, err)
	}
}

// No answer can reach a machine that left or was revoked, so that its questions leave the pages.
func TestARevokedMachineNoLongerAsks(t *testing.T) {
	m, d, g, _ := fixture(t)
	other := m.join(t, d, sponsor(t, d))
	m.ask(t, d, g, "open", need(1))
	m.ask(t, d, g, "ended", need(1))
	m.ask(t, d, other, "others", need(1))
	if err := d.End(t.Context(), g.ID, []wire.Ended{{Request: "ended", State: policy.StateDenied}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.RevokeGate(t.Context(), g.ID); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]policy.State{"open": policy.StateDismissed, "ended": policy.StateDenied, "others": policy.StatePending} {
		if got, err := d.Request(t.Context(), id); err != nil || got.State != want {
			t.Errorf("%s is %s, want %s (%v)", id, got.State, want, err)
		}
	}
	if err := d.RevokeGate(t.Context(), "g_nobody"); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("an unknown machine: %v", err)
	}
}

func TestAskingAndEnding(t *testing.T) {
	m, d, g, _ := fixture(t)
	other := m.join(t, d, sponsor(t, d))
	q := m.question(t, g, "r1", need(1))
	changed := m.question(t, g, "r1", need(2))
	stranger := m.question(t, other, "r2", need(1))
	forged := m.question(t, g, "r3", need(1))
	forged.Signature = append([]byte{forged.Signature[0] ^ 1}, forged.Signature[1:]...)
	for i, c := range []struct {
		asks    []wire.Signed
		taken   int
		refused string
	}{
		{[]wire.Signed{q}, 1, ""}, {[]wire.Signed{q}, 1, ""}, {[]wire.Signed{changed}, 0, "r1"},
		{[]wire.Signed{stranger}, 0, "r2"}, {[]wire.Signed{forged, q}, 1, "r3"},
	} {
		taken, err := d.Ask(t.Context(), g, c.asks)
		if err != nil || len(taken.Requests) != c.taken || (c.refused != "") != (taken.Refused[c.refused] != "") {
			t.Errorf("%d: %+v, %v", i, taken, err)
		}
	}
	end := []wire.Ended{{Request: "r1", State: policy.StateDenied}}
	if err := d.End(t.Context(), other.ID, end); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Request(t.Context(), "r1"); err != nil || got.State != policy.StatePending {
		t.Errorf("ended by another machine: %s, %v", got.State, err)
	}
	if err := d.End(t.Context(), g.ID, end); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Request(t.Context(), "r1"); err != nil || got.State != policy.StateDenied {
		t.Errorf("ended by its machine: %s, %v", got.State, err)
	}
	for i := range 7 {
		m.ask(t, d, g, fmt.Sprintf("p%d", i), need(1))
	}
	var seen []string
	for page := (db.Page{Limit: 3}); ; {
		list, next, err := d.OpenFor(t.Context(), "p_bob", []string{"sre"}, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			seen = append(seen, r.ID)
		}
		if page.After = next; next == "" {
			break
		}
	}
	if fmt.Sprint(seen) != "[p0 p1 p2 p3 p4 p5 p6]" {
		t.Errorf("pages: %v", seen)
	}
	if list, _, err := d.History(t.Context(), db.Filter{State: policy.StateDenied}, db.Page{}); err != nil || len(list) != 1 {
		t.Errorf("history: %v, %v", list, err)
	}
}
