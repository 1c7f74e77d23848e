package approval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
)

// ErrUnproven says that an answer came by a way on which a person must prove that it is theirs, and
// did not; match with [errors.Is].
var ErrUnproven = errors.New("the answer is not proven to be a person's")

// StatementVersion is the version of the statements that this program signs and accepts.
const StatementVersion = 1

// A Statement is what a person signs: everything that an answer does, so that no part of it can be
// changed or used again elsewhere. Texts are in it as digests; none is the zero digest.
type Statement struct {
	Version     int           `json:"version"`
	Tenant      string        `json:"tenant"` // empty on a machine of one person
	Request     string        `json:"request"`
	Fingerprint policy.Digest `json:"fingerprint"`
	View        policy.Digest `json:"view"` // what was shown
	Answer      Answer        `json:"answer"`
	Choice      string        `json:"choice"`
	Note        policy.Digest `json:"note"`
	Arguments   policy.Digest `json:"arguments"`
	Result      policy.Digest `json:"result"`
	Stop        bool          `json:"stop"`
	Remember    Remember      `json:"remember"`
	Serial      int64         `json:"serial"`  // of the policy that was in force; 0 without a server
	Expires     int64         `json:"expires"` // in seconds since 1970
	Nonce       string        `json:"nonce"`
}

// A Proof shows that the holder of a key made a statement. It has all that somebody needs to check it
// later, but for whose key it was.
type Proof struct {
	Credential string `json:"credential"`
	Public     []byte `json:"public,omitempty"` // the key's public half
	Statement  string `json:"statement"`        // the bytes that were signed, which are JSON
	Signature  []byte `json:"signature"`
	// Batch, if one signature is under several answers, has the digest of each of their statements, in
	// their order.
	Batch []policy.Digest `json:"batch,omitempty"`
	// Authenticator and Client are what a passkey signs: its own data, and the browser's as JSON.
	Authenticator []byte `json:"authenticator,omitempty"`
	Client        []byte `json:"client,omitempty"`
}

// A ProofVerifier reports why a proof's signature is not that of a credential that could answer at
// that time. What the statement says is checked by the gate.
type ProofVerifier func(ctx context.Context, p Proof, at time.Time) error

// maxNonce bounds what somebody may put there.
const maxNonce = 100

// ParseStatement reads a statement as strictly as it can: there is one text for each, but for the order of
// keys and white space.
func ParseStatement(text string) (Statement, error) {
	given, err := canonical.Arguments([]byte(text))
	if err != nil {
		return Statement{}, fmt.Errorf("statement: %w", err)
	}
	var s Statement
	if err := json.Unmarshal(given, &s); err != nil {
		return Statement{}, fmt.Errorf("statement: %w", err)
	}
	again, err := json.Marshal(s)
	if err == nil {
		again, err = canonical.Arguments(again)
	}
	switch {
	case err != nil:
		return Statement{}, fmt.Errorf("statement: %w", err)
	case !bytes.Equal(given, again):
		return Statement{}, errors.New("statement: it has unknown, missing or misspelled keys")
	case s.Version != StatementVersion:
		return Statement{}, fmt.Errorf("statement: version %d; this program knows version %d", s.Version, StatementVersion)
	case s.Nonce == "" || len(s.Nonce) > maxNonce:
		return Statement{}, errors.New("statement: the nonce is missing or too long")
	}
	return s, nil
}

// States returns what a person has to sign for the decision on a request whose view has this digest.
// Expires and Nonce are the signer's to choose.
func (d Decision) States(view policy.Digest) Statement {
	return Statement{
		Version: StatementVersion, Request: d.Request, Fingerprint: d.Fingerprint, View: view,
		Answer: d.Answer, Choice: d.Choice, Note: textDigest(d.Note), Arguments: textDigest(string(d.Arguments)),
		Result: textDigest(d.Result), Stop: d.Stop, Remember: d.Remember,
	}
}

func textDigest(text string) policy.Digest {
	if text == "" {
		return policy.Digest{}
	}
	return policy.DigestOf([]byte(text))
}

// ViewDigest identifies what the request shows.
func (r *Request) ViewDigest(ctx context.Context) (policy.Digest, error) {
	view, err := r.View(ctx)
	if err != nil {
		return policy.Digest{}, err
	}
	data, err := json.Marshal(view)
	if err != nil {
		return policy.Digest{}, err
	}
	return policy.DigestOf(data), nil
}

// CheckProof reports why the decision's proof does not prove it: the statement must say all that the
// decision does and no more, about this request and what it shows, and not have expired when the answer
// was given; a run that was put aside takes it much later. The signature is the verifier's matter.
func (r *Request) CheckProof(ctx context.Context, d Decision, at time.Time) error {
	if d.Proof == nil {
		return fmt.Errorf("%w: it has no signature", ErrUnproven)
	}
	s, err := ParseStatement(d.Proof.Statement)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	if expires := time.Unix(s.Expires, 0); !at.Before(expires) {
		return fmt.Errorf("%w: what was signed expired at %s", ErrUnproven, expires.UTC().Format(time.RFC3339))
	}
	if d.Fingerprint != r.Fingerprint {
		return fmt.Errorf("%w: only what was shown can be signed", ErrUnproven)
	}
	view, err := r.ViewDigest(ctx)
	if err != nil {
		return err
	}
	want := d.States(view)
	want.Expires, want.Nonce = s.Expires, s.Nonce
	if !reflect.DeepEqual(s, want) {
		return fmt.Errorf("%w: what was signed is not this answer", ErrUnproven)
	}
	return nil
}

// proven reports why a decision cannot be taken for a person's. Only some ways need a proof, and a
// proof that is there must hold, whatever the way.
func (g *Gate) proven(ctx context.Context, r *Request, d *Decision) error {
	if d.Proof == nil && !d.needsProof() {
		return nil
	}
	at := g.cfg.Clock()
	if !d.At.IsZero() && d.At.Before(at) {
		at = d.At
	}
	if err := r.CheckProof(ctx, *d, at); err != nil {
		return err
	}
	if g.cfg.Proofs == nil {
		return fmt.Errorf("%w: this gate knows no keys", ErrUnproven)
	}
	return safely("verifying the signature", func() error { return g.cfg.Proofs(ctx, *d.Proof, at) })
}

// needsProof reports whether an answer counts only with a proof: what comes over HTTP may come from
// any program of this machine. A refusal needs none. Those of a team prove theirs by votes.
func (d *Decision) needsProof() bool {
	return d.By.Via == policy.ViaBrowser && d.agrees()
}
