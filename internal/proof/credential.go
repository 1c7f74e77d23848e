package proof

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Kind says what holds the private half of a credential.
type Kind string

// The kinds.
const (
	KindPasskey Kind = "passkey" // asks for a touch for each signature
	KindDevice  Kind = "device"  // signs whenever its program wants
)

// A Credential is what a person of a team answers with.
type Credential struct {
	// ID is the credential's id in base64url without padding, as the browser has it; for a device [ID].
	ID string `json:"id"`
	// Person is the id of whose it is.
	Person string `json:"person,omitempty"`
	Kind   Kind   `json:"kind"`
	// Public is a P-256 key, as the DER of a SubjectPublicKeyInfo.
	Public []byte `json:"public"`
	// RP is the host that a passkey was made for. It signs for no other.
	RP string `json:"rp,omitempty"`
	// Since is when it begins to count.
	Since time.Time `json:"since"`
	// Revoked is when it stopped to count; from then on nothing that it signed does.
	Revoked time.Time `json:"revoked,omitzero"`
}

// Validate reports why nothing could be verified with the credential.
func (c Credential) Validate() error {
	if _, err := ParseKey(c.Public); err != nil {
		return fmt.Errorf("credential %q: %w", c.ID, err)
	}
	switch {
	case c.ID == "":
		return errors.New("a credential has no id")
	case c.Kind == KindPasskey && c.RP == "":
		return fmt.Errorf("passkey %q: it does not say for which host it is", c.ID)
	case c.Kind == KindDevice && c.ID != ID(c.Public):
		return fmt.Errorf("device key %q: its id is not that of its public half", c.ID)
	case c.Kind != KindPasskey && c.Kind != KindDevice:
		return fmt.Errorf("credential %q: unknown kind %q: use passkey or device", c.ID, c.Kind)
	}
	return nil
}

// Holds reports whether the credential counts at that time.
func (c Credential) Holds(at time.Time) bool { return c.Revoked.IsZero() && !at.Before(c.Since) }

// MaxBatch is how many answers one signature may be under.
const MaxBatch = 1000

// batchContext keeps a signature under a list from being taken for one under an answer.
const batchContext = "assent-batch-v1\x00"

// Batch is what is hashed and signed for several statements at once: their digests in a row.
func Batch(statements []policy.Digest) []byte {
	text := []byte(batchContext)
	for _, d := range statements {
		text = append(text, d[:]...)
	}
	return text
}

// Verify reports why the credential did not sign the proof's statement, and otherwise how much that shows.
// Whether the credential holds by now is for who knows the time: [Credential.Holds].
func Verify(c Credential, p approval.Proof) (approval.Strength, error) {
	switch err := c.Validate(); {
	case err != nil:
		return "", err
	case c.ID != p.Credential || len(p.Public) > 0 && !bytes.Equal(c.Public, p.Public) || !c.Revoked.IsZero():
		return "", ErrUnknownKey
	}
	message, err := signedText(p)
	if err != nil {
		return "", err
	}
	strength := approval.StrengthDevice
	switch {
	case c.Kind == KindPasskey:
		strength, err = approval.StrengthPasskey, verifyPasskey(c, message, p)
	case p.Authenticator != nil || p.Client != nil:
		err = errors.New("the key of a device signs no data of a browser")
	default:
		err = VerifySignature(c.Public, message, p.Signature)
	}
	if err != nil {
		return "", err
	}
	return strength, nil
}

// signedText is what the signature of a proof has to be under: the statement, or a list that has it.
func signedText(p approval.Proof) ([]byte, error) {
	if p.Batch == nil {
		return Answer(p.Statement), nil
	}
	this, found := policy.Digest(sha256.Sum256([]byte(p.Statement))), 0
	for _, d := range p.Batch {
		if d == this {
			found++
		}
	}
	if found != 1 || len(p.Batch) > MaxBatch {
		return nil, errors.New("the list that was signed does not have the statement once, or is too long")
	}
	return Batch(p.Batch), nil
}
