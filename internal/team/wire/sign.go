package wire

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What is signed begins with one of these, so that no signature can be taken for another. That of a call with the team's
// key has a byte that no signed note can have, so that it is never the signature of a bundle.
const (
	requestContext = "assent-request-v1\x00"
	callContext    = "assent-call-v1\x00"
	policyContext  = "assent-policy-call-v1\x00"
)

// SignRequest signs the JSON of a question.
func SignRequest(key ed25519.PrivateKey, request []byte) []byte {
	return ed25519.Sign(key, append([]byte(requestContext), request...))
}

// VerifyRequest reports whether a gate signed the question.
func VerifyRequest(key ed25519.PublicKey, request, signature []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, append([]byte(requestContext), request...), signature)
}

// MaxSkew is how far the clocks of a machine and the server may differ. What a call does is safe to repeat, so
// it only bounds how long a stolen call could be used to read.
const MaxSkew = 15 * time.Minute

// SignCall signs an HTTP call with the key of a gate.
func SignCall(r *http.Request, body []byte, gate string, key ed25519.PrivateKey, now time.Time) {
	_ = machineCall.sign(r, body, gate, now, func(text []byte) ([]byte, error) { return ed25519.Sign(key, text), nil })
}

// Caller returns which gate says that it calls; it is not verified yet.
func Caller(r *http.Request) (gate string, ok bool) {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), machineCall.word)
	gate, _, _ = strings.Cut(rest, " ")
	return gate, ok && gate != ""
}

// VerifyCall reports why a call was not made by the gate with this key.
func VerifyCall(r *http.Request, body []byte, key ed25519.PublicKey, now time.Time) error {
	return checked(VerifyCallHead(r, key, now))(body)
}

// VerifyCallHead is VerifyCall before the body of the call is read, which is then checked.
func VerifyCallHead(r *http.Request, key ed25519.PublicKey, now time.Time) (Body, error) {
	return machineCall.verify(r, now, func(_ string, text, signature []byte) bool {
		return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, text, signature)
	})
}

// A Body reports why a body is not the one that was signed with the head of its call.
type Body func(body []byte) error

// checked makes of what became of a head a check of all.
func checked(b Body, err error) Body {
	if err != nil {
		return func([]byte) error { return err }
	}
	return b
}

// A Signer is the private half of the team's key, as [golang.org/x/mod/sumdb/note] has it.
type Signer interface {
	Name() string
	Sign(msg []byte) ([]byte, error)
}

// A Verifier is the public half.
type Verifier interface {
	Name() string
	Verify(msg, signature []byte) bool
}

// SignPolicyCall signs an HTTP call with the team's key.
func SignPolicyCall(r *http.Request, body []byte, key Signer, now time.Time) error {
	return policyCall.sign(r, body, key.Name(), now, key.Sign)
}

// IsPolicyCall reports whether a call says that it is signed with the team's key; it is not verified yet.
func IsPolicyCall(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), policyCall.word)
}

// VerifyPolicyCall reports why a call was not made by the holder of the team's key.
func VerifyPolicyCall(r *http.Request, body []byte, key Verifier, now time.Time) error {
	return checked(VerifyPolicyCallHead(r, key, now))(body)
}

// VerifyPolicyCallHead is VerifyPolicyCall before the body of the call is read, which is then checked.
func VerifyPolicyCallHead(r *http.Request, key Verifier, now time.Time) (Body, error) {
	return policyCall.verify(r, now, func(name string, text, signature []byte) bool {
		return name == key.Name() && key.Verify(text, signature)
	})
}

// A scheme is a way to sign a call in its header Authorization: the word, the name of the key, the time, a nonce and the
// signature of all that with method, address and the digest of the body. The digest has a header of its own, so that nobody
// has a body read who cannot sign.
type scheme struct {
	word, context string
	invalid       string // what is said of a call that was signed otherwise
}

var (
	machineCall = scheme{"Assent-Gate ", callContext, "the signature of the call is not valid"}
	policyCall  = scheme{"Assent-Policy ", policyContext + callContext, "the call is not signed with the key of this team"}
)

func (s scheme) sign(r *http.Request, body []byte, name string, now time.Time, sign func(text []byte) ([]byte, error)) error {
	at, nonce := strconv.FormatInt(now.Unix(), 10), rand.Text()
	sum := sha256.Sum256(body)
	signature, err := sign(s.text(r, sum, name, at, nonce))
	if err == nil {
		if len(body) > 0 {
			r.Header.Set(digestHeader, digestStart+base64.StdEncoding.EncodeToString(sum[:])+digestEnd)
		}
		r.Header.Set("Authorization", s.word+strings.Join([]string{name, at, nonce,
			base64.RawURLEncoding.EncodeToString(signature)}, " "))
	}
	return err
}

// The digest of a body that is not empty is written as in RFC 9530.
const (
	digestHeader = "Content-Digest"
	digestStart  = "sha-256=:"
	digestEnd    = ":"
)

// digestOf reads which body a call says that it has.
func digestOf(r *http.Request) (sum [sha256.Size]byte, ok bool) {
	text := r.Header.Get(digestHeader)
	if text == "" {
		return sha256.Sum256(nil), true
	}
	text, begun := strings.CutPrefix(text, digestStart)
	text, ended := strings.CutSuffix(text, digestEnd)
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	return sum, begun && ended && err == nil && len(data) == len(sum) && copy(sum[:], data) == len(sum)
}

func (s scheme) verify(r *http.Request, now time.Time, fits func(name string, text, signature []byte) bool) (Body, error) {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), s.word)
	parts := strings.Split(rest, " ")
	if !ok || len(parts) != 4 {
		return nil, errors.New("the call is not signed")
	}
	at, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return nil, errors.New("the time of the call is not a number")
	}
	if off := now.Sub(time.Unix(at, 0)); off.Abs() > MaxSkew {
		return nil, fmt.Errorf("the clock of this computer differs by %v from the server's; set it", off.Abs().Round(time.Second))
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[3])
	sum, whole := digestOf(r)
	if err != nil || !whole || !fits(parts[0], s.text(r, sum, parts[0], parts[1], parts[2]), signature) {
		return nil, errors.New(s.invalid)
	}
	return func(body []byte) error {
		if sha256.Sum256(body) != sum {
			return errors.New(s.invalid)
		}
		return nil
	}, nil
}

func (s scheme) text(r *http.Request, sum [sha256.Size]byte, name, at, nonce string) []byte {
	text := s.context + strings.Join([]string{name, at, nonce, r.Method, r.URL.RequestURI()}, "\x00") + "\x00"
	return append([]byte(text), sum[:]...)
}
