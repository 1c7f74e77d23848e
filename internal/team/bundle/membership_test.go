package bundle_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
)

// A vote counts for the groups that its person is in at the time of counting.
func TestAMembershipHoldsFromUntil(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	from, until := issued.Add(time.Hour), issued.Add(2*time.Hour)
	tm, b := newTeam(t, "acme"), acme(t)
	b.People[0].Credentials = []bundle.Credential{{ID: proof.ID(public), Kind: proof.KindDevice, Public: public, Since: issued}}
	b.People[0].Memberships = []bundle.Membership{{Group: "oncall", From: from, Until: until}, {Group: "leads", From: until}, {Group: "guests", Until: from}}
	opened, err := bundle.Open(tm.sign(t, b), tm.trust)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(proof.Answer("{}"))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	vote := approval.Proof{Credential: proof.ID(public), Public: public, Statement: "{}", Signature: signature}
	for _, c := range []struct {
		at   time.Time
		want []string
	}{
		{from.Add(-1), []string{"sre", "guests"}}, {from, []string{"sre", "oncall"}},
		{until.Add(-1), []string{"sre", "oncall"}}, {until, []string{"sre", "leads"}},
	} {
		p, _, err := opened.Directory(c.at).Voter(vote)
		if err != nil || !slices.Equal(p.Groups, c.want) {
			t.Errorf("at %s: %v, want %v (%v)", c.at.Format(time.TimeOnly), p.Groups, c.want, err)
		}
	}
}

// The team's key signed these all the same: a machine reads strictly.
func TestMembershipsThatAreRefused(t *testing.T) {
	tm := newTeam(t, "acme")
	text, _, _ := bytes.Cut(tm.sign(t, acme(t)), []byte("\n\n"))
	open := func(memberships string) error {
		changed := strings.Replace(string(text), `"groups":["sre"]`, `"groups":["sre"]`+memberships, 1)
		data, err := note.Sign(&note.Note{Text: changed + "\n"}, tm.signer)
		if err != nil {
			t.Fatal(err)
		}
		_, err = bundle.Open(data, tm.trust)
		return err
	}
	for _, good := range []string{"", // as older programs wrote it
		`,"memberships":[{"group":"oncall","from":"2026-11-01T00:00:00Z","until":"2026-11-02T00:00:00Z"}]`} {
		if err := open(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for memberships, why := range map[string]string{
		`{"group":"oncall","from":"2026-11-02T00:00:00Z","until":"2026-11-01T00:00:00Z"}`: "must end after it begins",
		`{"group":"oncall","from":"2026-11-01T00:00:00Z","until":"2026-11-01T00:00:00Z"}`: "must end after it begins",
		`{"group":"oncall"}`:                                "no dates",
		`{"group":"","until":"2026-11-01T00:00:00Z"}`:       `group ""`,
		`{"group":"editor","until":"2026-11-01T00:00:00Z"}`: "policies use this word",
		`{"group":"sre","until":"2026-11-01T00:00:00Z"}`:    "the group sre is there twice",
		`{"group":"oncall","until":"2026-11-01T00:00:00Z"},{"group":"oncall","from":"2026-12-01T00:00:00Z"}`: "the group oncall is there twice",
		`{"group":"oncall","until":"tomorrow"}`:                     "its JSON",
		`{"group":"oncall","until":"2026-11-01T00:00:00Z","to":""}`: "unknown, doubled or misspelled",
		`{"group":"oncall","until":null}`:                           "unknown, doubled or misspelled",
	} {
		if err := open(`,"memberships":[` + memberships + `]`); !errors.Is(err, bundle.ErrRefused) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", memberships, err, why)
		}
	}
}
