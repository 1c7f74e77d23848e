// Package bridgetest is a team for tests: its key, its people with keys of devices, and a small server that speaks
// package wire and does what it is told, also lie.
package bridgetest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/policy"
)

// A Team has the key that signs bundles, and people.
type Team struct {
	Trust  string
	Name   string
	Bundle bundle.Bundle // as it is published next
	signer note.Signer
	keys   map[string]*ecdsa.PrivateKey
}

// New makes a team of people who are all in the group sre. The first is the sponsor of machines.
func New(people ...string) *Team {
	private, trust, err := note.GenerateKey(rand.Reader, "acme")
	must(err)
	signer, err := note.NewSigner(private)
	must(err)
	now := time.Now().Truncate(time.Second).UTC()
	t := &Team{Trust: trust, Name: "acme", signer: signer, keys: map[string]*ecdsa.PrivateKey{}, Bundle: bundle.Bundle{
		Version: bundle.Version, Tenant: "acme", Issued: now.Add(-time.Minute), Expires: now.Add(24 * time.Hour),
		MaxAge: bundle.Duration(time.Hour), Stale: bundle.StaleAsk, Editors: []string{}, Policy: "version: 1\n",
		Deciders: []bundle.Decider{{Acts: []string{"*"}, Need: []bundle.From{{From: "sre", Count: 1}}, Proof: approval.StrengthDevice}},
	}}
	for _, name := range people {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(err)
		public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		must(err)
		t.keys[name] = key
		t.Bundle.People = append(t.Bundle.People, bundle.Person{ID: "p_" + name, Name: name, Groups: []string{"sre"},
			Credentials: []bundle.Credential{{ID: proof.ID(public), Kind: proof.KindDevice, Public: public, Since: now.Add(-time.Hour)}}})
	}
	return t
}

// Admin is the administrator's file of the team's machines.
func (t *Team) Admin() string {
	return "version: 1\nteam:\n  trust: " + t.Trust + "\n  name: " + t.Name + "\n"
}

// Sign returns the bundle with the next serial.
func (t *Team) Sign() []byte {
	t.Bundle.Serial++
	data, err := bundle.Sign(&t.Bundle, t.signer)
	must(err)
	return data
}

// Vote is a person's signed answer to a request of the team, with what it is about.
func (t *Team) Vote(person string, r *approval.Request, d approval.Decision) approval.Vote {
	view, err := r.ViewDigest(context.Background())
	must(err)
	s := d.States(view)
	s.Tenant, s.Serial = r.Routing.Tenant, r.Routing.Serial
	s.Expires, s.Nonce = time.Now().Add(time.Hour).Unix(), rand.Text()
	text, err := json.Marshal(s)
	must(err)
	key := t.keys[person]
	sum := sha256.Sum256(proof.Answer(string(text)))
	x, y, err := ecdsa.Sign(rand.Reader, key, sum[:])
	must(err)
	signature := make([]byte, 64)
	x.FillBytes(signature[:32])
	y.FillBytes(signature[32:])
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(err)
	return approval.Vote{Note: d.Note, Proof: approval.Proof{
		Credential: proof.ID(public), Public: public, Statement: string(text), Signature: signature,
	}}
}

// Machine puts a machine into the bundle that is published next.
func (t *Team) Machine(id string, public []byte) {
	t.Bundle.Machines = append(t.Bundle.Machines, bundle.Machine{ID: id, Public: public, Host: "host",
		Sponsor: t.Bundle.People[0].ID})
}

// stateOf is how a request ends that is answered so.
func stateOf(d approval.Decision) policy.State { return d.Settled().State }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
