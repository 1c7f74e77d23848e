package wire_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/internal/team/wire"
)

func policyKey(t *testing.T, name string) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(nil, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

// A call signed with the team's key holds for exactly that call, and not for long.
func TestPolicyCall(t *testing.T) {
	t.Parallel()
	signer, verifier := policyKey(t, "acme")
	_, other := policyKey(t, "acme")
	now := time.Unix(1_800_000_000, 0)
	r := httptest.NewRequest("POST", "/policy/v1/bundle?x=1", nil)
	if wire.IsPolicyCall(r) || wire.VerifyPolicyCall(r, nil, verifier, now) == nil {
		t.Error("a call without a signature passes")
	}
	if err := wire.SignPolicyCall(r, []byte("body"), signer, now); err != nil {
		t.Fatal(err)
	}
	if err := wire.VerifyPolicyCall(r, []byte("body"), verifier, now.Add(time.Minute)); err != nil || !wire.IsPolicyCall(r) {
		t.Error(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s passes", what)
		}
	}
	refused("another body", wire.VerifyPolicyCall(r, []byte("body2"), verifier, now))
	refused("another key of the same name", wire.VerifyPolicyCall(r, []byte("body"), other, now))
	refused("an old call", wire.VerifyPolicyCall(r, []byte("body"), verifier, now.Add(wire.MaxSkew+time.Second)))
	elsewhere := httptest.NewRequest("POST", "/policy/v1/bundle?x=2", nil)
	elsewhere.Header = r.Header
	refused("another address", wire.VerifyPolicyCall(elsewhere, []byte("body"), verifier, now))
	elsewhere = httptest.NewRequest("PUT", "/policy/v1/bundle?x=1", nil)
	elsewhere.Header = r.Header
	refused("another method", wire.VerifyPolicyCall(elsewhere, []byte("body"), verifier, now))
	signed, err := note.Sign(&note.Note{Text: "assent-policy-call-v1\x00\n"}, signer)
	if err != nil {
		t.Fatal(err)
	}
	_, err = note.Open(signed, note.VerifierList(verifier))
	refused("what a call signs, as a note,", err)
	if _, ok := wire.Caller(r); ok {
		t.Error("it is taken for the call of a machine")
	}
	r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "acme", "evil", 1))
	refused("another name", wire.VerifyPolicyCall(r, []byte("body"), verifier, now))
}
