package admin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
)

func publicKey(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// What does not count yet, or any more, is left out of a bundle, and whoever signs it is told.
func TestNext(t *testing.T) {
	t.Parallel()
	passkey := func(id, person string, from time.Time) db.Credential {
		return db.Credential{ID: id, Person: person, Kind: approval.StrengthPasskey, Public: publicKey(t), RP: "assent.example.org", Created: day, CountsFrom: from,
			Name: "phone", EnrolledBy: "p_bob"}
	}
	revoked := passkey("c_old", "p_ann", day)
	revoked.Revoked = day
	broken := passkey("c_broken", "p_ann", day)
	broken.Public = []byte("nonsense")
	d := Directory{Tenant: "acme", Now: day.Add(time.Hour), LogKey: "acme-log+1+x", URL: "https://assent.example.org",
		People: []db.Person{{ID: "p_bob", Name: "Bob"}, {ID: "p_ann", Name: "Ann"}, {ID: "p_eve", Name: "Eve", Disabled: day}},
		Groups: []db.Group{{Name: "oncall", Members: []db.Membership{{Person: "p_ann", From: day, Until: day.Add(time.Hour)}}},
			{Name: "sre", Members: []db.Membership{{Person: "p_ann", From: day}, {Person: "p_bob", From: day}, {Person: "p_eve", From: day}}}},
		Credentials: []db.Credential{passkey("c_ann", "p_ann", day), passkey("c_new", "p_ann", day.AddDate(0, 0, 1)), revoked, broken, passkey("c_eve", "p_eve", day)},
		Gates: []db.Gate{{ID: "g_2", Public: make([]byte, 32), Host: "b", Sponsor: "p_eve"}, {ID: "g_1", Public: make([]byte, 32), Host: "a", Sponsor: "p_ann"},
			{ID: "g_0", Sponsor: "p_ann", Revoked: day}},
		Agents: []db.Agent{{Gate: "g_1", Name: "codex", Sponsor: "p_eve"}, {Gate: "g_1", Name: "claude-code", Sponsor: "p_bob"}},
	}
	e := Edition{Directory: d, Before: someBundle(), Valid: 30 * 24 * time.Hour, Source: bundle.Source{Policy: "version: 1\n", Stale: bundle.StaleAsk,
		MaxAge: bundle.DefaultMaxAge, Deciders: []bundle.Decider{{Acts: []string{"pay:*"}, Need: []bundle.From{{From: "sre", Count: 2}}, Proof: approval.StrengthPasskey},
			{Acts: []string{"send_mail"}, Need: []bundle.From{{From: "sre", Count: 1}}, Not: []string{approval.NotSponsor}, Proof: approval.StrengthPasskey},
			{Acts: []string{"deploy"}, Need: []bundle.From{{From: "sre", Count: 2}}, Not: []string{approval.NotEditor}, Proof: approval.StrengthSession}}}}
	if _, _, err := e.Next(); err == nil || !strings.Contains(err.Error(), "--editor") {
		t.Errorf("without an editor: %v", err)
	}
	e.Editors = []string{"p_eve"}
	if _, _, err := e.Next(); err == nil {
		t.Error("somebody who is disabled is an editor")
	}
	e.Editors = []string{"p_bob", "p_bob"}
	b, notes, err := e.Next()
	if err != nil {
		t.Fatal(err)
	}
	e.Before = b
	if _, notes, err := e.Next(); err != nil || strings.Contains(strings.Join(notes, "\n"), "new key") {
		t.Errorf("a key that was signed in before is new again: %q, %v", notes, err)
	}
	if b.Serial != 8 || len(b.Editors) != 1 || len(b.People) != 2 || len(b.Person("p_ann").Credentials) != 1 || b.Person("p_ann").Credentials[0].ID != "c_ann" ||
		len(b.Machines) != 1 || len(b.Machines[0].Agents) != 1 || b.Machines[0].Agents[0].Name != "claude-code" || b.Checkpoint != "acme-log+1+x" {
		t.Errorf("%+v", b)
	}
	all := strings.Join(notes, "\n")
	for _, words := range []string{`The passkey "phone" of p_ann (c_new), let in by p_bob, is left out`, `If Ann did not add it: assent people revoke-key c_new`,
		`This signs in a new key, the passkey "phone" of p_ann (c_ann), let in by p_bob`, "A key of p_ann is left out", "g_2 (b) is left out", "codex on g_1 has the machine's sponsor",
		"Decider 1 needs 2 of sre with a passkey, and 1 can:", "Decider 2 needs 1 of sre with a passkey, and 1 can, one of them the sponsor of a machine",
		"Decider 3 needs 2 of sre with a session, and 1 can:"} {
		if !strings.Contains(all, words) {
			t.Errorf("%q is not among the notes:\n%s", words, all)
		}
	}
}

// Memberships that begin or end later are in the bundle already, and whoever signs it hears of deciders that nobody can
// fill from then on.
func TestNextMemberships(t *testing.T) {
	t.Parallel()
	now := day.Add(time.Hour)
	shift := func(person string, from, until int) db.Membership {
		return db.Membership{Person: person, From: day.AddDate(0, 0, from), Until: day.AddDate(0, 0, until)}
	}
	e := Edition{Editors: []string{"p_ann"}, Valid: 30 * 24 * time.Hour,
		Source: bundle.Source{Policy: "version: 1\n", Stale: bundle.StaleAsk, MaxAge: bundle.DefaultMaxAge, Deciders: []bundle.Decider{
			{Acts: []string{"pay:*"}, Need: []bundle.From{{From: "oncall", Count: 1}}, Proof: approval.StrengthSession},
			{Acts: []string{"send"}, Need: []bundle.From{{From: "sre", Count: 1}}, Proof: approval.StrengthSession}}},
		Directory: Directory{Tenant: "acme", Now: now, People: []db.Person{{ID: "p_ann", Name: "Ann"}, {ID: "p_bob", Name: "Bob"}},
			Groups: []db.Group{
				{Name: "oncall", Members: []db.Membership{shift("p_ann", 0, 7), shift("p_bob", 7, 14)}},
				{Name: "sre", Members: []db.Membership{{Person: "p_ann", From: day}, {Person: "p_bob", From: day, Until: now}}},
			}}}
	b, notes, err := e.Next()
	if err != nil {
		t.Fatal(err)
	}
	want := []bundle.Person{
		{ID: "p_ann", Name: "Ann", Groups: []string{"sre"}, Memberships: []bundle.Membership{{Group: "oncall", Until: day.AddDate(0, 0, 7)}}},
		{ID: "p_bob", Name: "Bob", Memberships: []bundle.Membership{{Group: "oncall", From: day.AddDate(0, 0, 7), Until: day.AddDate(0, 0, 14)}}},
	}
	if diff := cmp.Diff(want, b.People); diff != "" {
		t.Error(diff)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "Decider 1 needs 1 of oncall with a session, and from "+when(day.AddDate(0, 0, 14))+" on 0 can") {
		t.Errorf("%q", notes)
	}
	d := printed(t, Compare(nil, b))
	for _, words := range []string{"+ p_ann in oncall until 2026-11-08T00:00:00Z\n", "+ p_bob in oncall from 2026-11-08T00:00:00Z until 2026-11-15T00:00:00Z\n", "+ p_ann in sre\n"} {
		if !strings.Contains(d, words) {
			t.Errorf("%q is not in\n%s", words, d)
		}
	}
}

// A key is read with its public half, and never printed with an error.
func TestKey(t *testing.T) {
	t.Parallel()
	for range 50 { // base64 may have a +
		private, public, err := MakeKey("acme")
		if err != nil {
			t.Fatal(err)
		}
		key, err := ParseKey(private)
		if err != nil || key.Public != public || key.Name() != "acme" {
			t.Fatalf("%q, want %q: %v", key.Public, public, err)
		}
		if _, err := ParseKey(private + "x"); err == nil || strings.Contains(err.Error(), private[30:]) {
			t.Errorf("a key with a mistake: %v", err)
		}
	}
}
