//go:build all && linux

package db_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

const tenant = "acme"

// open connects to a database.
func open(t testing.TB, dsn string) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), dsn, tenant)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

var sql = pgtest.Exec

// A team has people with keys and machines, as a signed bundle would name them.
type team struct {
	people  map[string]approval.Person
	keys    map[string]ed25519.PrivateKey
	gates   map[string]ed25519.PrivateKey
	editors []string
}

func newTeam() *team {
	return &team{people: map[string]approval.Person{}, keys: map[string]ed25519.PrivateKey{}, gates: map[string]ed25519.PrivateKey{}}
}

func newKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// person adds somebody; a credential has the name of its person.
func (m *team) person(id string, groups ...string) {
	m.people[id], m.keys[id] = approval.Person{ID: id, Name: id, Groups: groups}, newKey()
}

func (m *team) Voter(p approval.Proof) (approval.Person, approval.Strength, error) {
	key, ok := m.keys[p.Credential]
	if !ok || !ed25519.Verify(key.Public().(ed25519.PublicKey), []byte(p.Statement), p.Signature) {
		return approval.Person{}, "", errors.New("the signature does not fit")
	}
	return m.people[p.Credential], approval.StrengthDevice, nil
}

func (m *team) Editors() []string { return m.editors }

func (m *team) court() db.Court {
	return db.Court{People: m, Gate: func(id string) ed25519.PublicKey {
		key, ok := m.gates[id]
		if !ok {
			return nil
		}
		return key.Public().(ed25519.PublicKey)
	}}
}

// join makes a machine a member.
func (m *team) join(t testing.TB, d *db.DB, sponsor db.Person) db.Gate {
	t.Helper()
	key := newKey()
	token, err := d.JoinToken(context.Background(), sponsor.ID, "admin", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	g, err := d.Join(context.Background(), wire.Join{Token: token, Public: key.Public().(ed25519.PublicKey), Host: "laptop", User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	m.gates[g.ID] = key
	return g
}

// sponsor adds a person to the directory.
func sponsor(t testing.TB, d *db.DB) db.Person {
	t.Helper()
	p, err := d.AddPerson(context.Background(), "https://issuer.example", "ann", "Ann")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// need is that so many of sre agree.
func need(count int) approval.Need {
	return approval.Need{From: []approval.Count{{Group: "sre", Count: count}}, Proof: approval.StrengthDevice, Expires: time.Hour}
}

// question builds a question of a gate, signed.
func (m *team) question(t testing.TB, g db.Gate, id string, n approval.Need) wire.Signed {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"id": id, "batch": "b", "call": policy.Call{}, "fingerprint": policy.DigestOf([]byte(id)), "summary": "delete " + id, "why": "asks",
		"acts": []policy.Act{}, "open": []int{}, "trace": policy.Trace{}, "created": time.Now(),
		"view":    present.View{Kind: present.KindText, Content: "delete " + id},
		"routing": approval.Routing{Tenant: tenant, Gate: g.ID, Agent: "claude-code", Sponsor: g.Sponsor, Serial: 1, Need: n},
	})
	if err != nil {
		t.Fatal(err)
	}
	return wire.Signed{Request: body, Signature: wire.SignRequest(m.gates[g.ID], body)}
}

// ask asks one question and returns it as it is kept.
func (m *team) ask(t testing.TB, d *db.DB, g db.Gate, id string, n approval.Need) db.Request {
	t.Helper()
	taken, err := d.Ask(context.Background(), g, []wire.Signed{m.question(t, g, id, n)})
	if err != nil || len(taken.Requests) != 1 {
		t.Fatalf("%+v, %v", taken, err)
	}
	r, err := d.Request(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// vote signs a decision.
func (m *team) vote(t testing.TB, person string, r db.Request, decision approval.Decision) db.Ballot {
	t.Helper()
	s := decision.States(r.View)
	s.Tenant, s.Serial, s.Expires, s.Nonce = tenant, r.Routing.Serial, time.Now().Add(time.Hour).Unix(), rand.Text()
	return m.sign(t, person, s, decision)
}

// sign signs a statement.
func (m *team) sign(t testing.TB, person string, s approval.Statement, decision approval.Decision) db.Ballot {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	proof := approval.Proof{Credential: person, Statement: string(text), Signature: ed25519.Sign(m.keys[person], text)}
	return db.Ballot{Vote: approval.Vote{Proof: proof, Note: decision.Note}, Decision: decision}
}

// chained are records that go on after a hash.
func chained(stream string, after int64, prev []byte, count int) wire.Records {
	out := wire.Records{Stream: stream}
	var chain audit.Chain
	for i := range count {
		r := wire.Record{Seq: after + int64(i) + 1, Prev: prev, Numbers: []int64{int64(i), 7},
			Texts: []string{"ended", "session", "call"}, Body: fmt.Appendf(nil, `{"n":%d,"stream":%q}`, after+int64(i)+1, stream)}
		sum := chain.Hash(r.Prev, r.Numbers, r.Texts, r.Body)
		r.Hash, prev = sum[:], sum[:]
		out.Rows = append(out.Rows, r)
	}
	return out
}

var zero = make([]byte, sha256.Size)

// fixture is a team with a database, a machine and three of sre.
func fixture(t testing.TB) (m *team, d *db.DB, g db.Gate, dsn string) {
	t.Helper()
	dsn = pgtest.Start(t).DSN()
	m, d = newTeam(), open(t, dsn)
	for _, id := range []string{"p_bob", "p_cem", "p_dia"} {
		m.person(id, "sre")
	}
	return m, d, m.join(t, d, sponsor(t, d)), dsn
}
