package bundle_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/internal/team/bundle"
)

// A team has a key, which is nowhere but with its editors.
type team struct {
	signer note.Signer
	trust  string
}

func newTeam(t testing.TB, name string) team {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return team{signer, public}
}

func (tm team) sign(t testing.TB, b *bundle.Bundle) []byte {
	t.Helper()
	data, err := bundle.Sign(b, tm.signer)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var issued = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

const source = `version: 1
rules:
  - deny shell(shred)
deciders:
  - acts: ["shell(kubectl delete *)", "pay:*"]
    need: [{from: sre, count: 2}, {from: finance}]
    not: [sponsor, editor]
    escalate: [{after: 5m, to: oncall}]
    expires: 1h
# about what follows
max_age: 12h
tools:
  send: {approval: deny}
stale: deny
keep_days: 400
`

// acme is a bundle of a small team.
func acme(t testing.TB) *bundle.Bundle {
	t.Helper()
	s, err := bundle.Parse("team.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle.Bundle{
		Version: bundle.Version, Tenant: "acme", Serial: 7, Issued: issued, Expires: issued.AddDate(0, 1, 0), Editors: []string{"p_ann"},
		People:   []bundle.Person{{ID: "p_ann", Name: "Ann", Groups: []string{"sre"}}, {ID: "p_ben", Name: "Ben"}},
		Machines: []bundle.Machine{{ID: "g_1", Public: []byte("k"), Host: "laptop", Sponsor: "p_ann", Agents: []bundle.Agent{{Name: "codex", Sponsor: "p_ben"}}}},
		Server:   "https://assent.example.org",
	}
	s.Into(b)
	return b
}

// large is a bundle with many rules.
func large(t testing.TB, rules int) *bundle.Bundle {
	t.Helper()
	var text strings.Builder
	text.WriteString("version: 1\nrules:\n")
	for i := range rules {
		fmt.Fprintf(&text, "  - deny shell(deploy-%d --environment production *)\n", i)
	}
	b := acme(t)
	b.Policy = text.String()
	return b
}
