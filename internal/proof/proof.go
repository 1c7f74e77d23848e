package proof

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
)

// A Key is the public half of one that a person answers with.
type Key struct {
	// Name is what its owner calls it, such as "Firefox on desk".
	Name string `json:"name"`
	// Public is a P-256 key, as the DER of a SubjectPublicKeyInfo.
	Public  []byte    `json:"public"`
	Created time.Time `json:"created"`
	// Session is that of the server which let it in; no other takes it.
	Session string `json:"session"`
	// Ended is when it stopped to count: with its server, or because somebody revoked it. A server that
	// was killed could not say so; then it is [KeyLife] after it was made.
	Ended time.Time `json:"ended,omitzero"`
}

// KeyLife is how long a key counts at most.
const KeyLife = 24 * time.Hour

// holds reports whether the key could answer at that time.
func (k Key) holds(at time.Time) bool {
	return !at.Before(k.Created) && at.Before(k.Created.Add(KeyLife)) && (k.Ended.IsZero() || at.Before(k.Ended))
}

// Why a proof does not hold; match with [errors.Is].
var (
	ErrUnknownKey   = errors.New("the key is not one that may answer, or no longer")
	ErrBadSignature = errors.New("the signature does not fit")
)

// answerContext keeps a signature under an answer from being taken for one under anything else.
const answerContext = "assent-answer-v1\x00"

// Answer is what is hashed and signed for a statement.
func Answer(statement string) []byte { return []byte(answerContext + statement) }

// ID names a key by its public half, so that nobody can choose it.
func ID(public []byte) string {
	sum := sha256.Sum256(public)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// keyHead is how the DER of every P-256 key begins; the point follows, uncompressed.
const keyHead = "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"

// ParseKey reads the DER of a public key. Others than P-256 are refused. There is one spelling of each, so
// no parser is needed, which would bring half of a TLS library into the hook.
func ParseKey(public []byte) (*ecdsa.PublicKey, error) {
	point, ok := strings.CutPrefix(string(public), keyHead)
	if !ok {
		return nil, errors.New("public key: use ECDSA with the curve P-256, as SubjectPublicKeyInfo")
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), []byte(point))
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	return key, nil
}

// VerifySignature reports why the signature is not that of the key over the message, which is hashed with
// SHA-256. A signature is two numbers of 32 bytes, as WebCrypto makes it.
func VerifySignature(public, message, signature []byte) error {
	key, err := ParseKey(public)
	if err != nil {
		return err
	}
	const half = 32
	if len(signature) != 2*half {
		return fmt.Errorf("%w: it has %d bytes instead of %d", ErrBadSignature, len(signature), 2*half)
	}
	sum := sha256.Sum256(message)
	r, s := new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:])
	if !ecdsa.Verify(key, sum[:], r, s) {
		return ErrBadSignature
	}
	return nil
}

// A Directory finds a key by its id.
type Directory func(ctx context.Context, id string) (key Key, ok bool, err error)

// Verifier returns what a gate verifies answers with. A directory that fails refuses.
func Verifier(keys Directory) approval.ProofVerifier {
	return func(ctx context.Context, p approval.Proof, at time.Time) error {
		key, ok, err := keys(ctx, p.Credential)
		switch {
		case err != nil:
			return fmt.Errorf("reading the keys: %w", err)
		case !ok || ID(key.Public) != p.Credential || !bytes.Equal(key.Public, p.Public) || !key.holds(at):
			return ErrUnknownKey
		}
		return VerifySignature(key.Public, Answer(p.Statement), p.Signature)
	}
}
