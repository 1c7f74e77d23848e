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

// What is signed begins with one of these, so that no signature can be taken for another.
const (
	requestContext = "assent-request-v1\x00"
	callContext    = "assent-call-v1\x00"
)

// SignRequest signs the JSON of a question.
func SignRequest(key ed25519.PrivateKey, request []byte) []byte {
	return ed25519.Sign(key, append([]byte(requestContext), request...))
}

// VerifyRequest reports whether a gate signed the question.
func VerifyRequest(key ed25519.PublicKey, request, signature []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, append([]byte(requestContext), request...), signature)
}

// scheme is how the header of a signed call begins.
const scheme = "Assent-Gate "

// MaxSkew is how far the clocks of a machine and the server may differ. What a call does is safe to repeat, so
// it only bounds how long a stolen call could be used to read.
const MaxSkew = 15 * time.Minute

// SignCall signs an HTTP call with the key of a gate.
func SignCall(r *http.Request, body []byte, gate string, key ed25519.PrivateKey, now time.Time) {
	at, nonce := strconv.FormatInt(now.Unix(), 10), rand.Text()
	signature := ed25519.Sign(key, callText(r, body, gate, at, nonce))
	r.Header.Set("Authorization", scheme+strings.Join([]string{gate, at, nonce, base64.RawURLEncoding.EncodeToString(signature)}, " "))
}

// Caller returns which gate says that it calls; it is not verified yet.
func Caller(r *http.Request) (gate string, ok bool) {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), scheme)
	gate, _, _ = strings.Cut(rest, " ")
	return gate, ok && gate != ""
}

// VerifyCall reports why a call was not made by the gate with this key.
func VerifyCall(r *http.Request, body []byte, key ed25519.PublicKey, now time.Time) error {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), scheme)
	parts := strings.Split(rest, " ")
	if !ok || len(parts) != 4 {
		return errors.New("the call is not signed by a machine")
	}
	at, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return errors.New("the time of the call is not a number")
	}
	if off := now.Sub(time.Unix(at, 0)); off.Abs() > MaxSkew {
		return fmt.Errorf("the machine's clock differs by %v from the server's; set it", off.Abs().Round(time.Second))
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[3])
	if err != nil || len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, callText(r, body, parts[0], parts[1], parts[2]), signature) {
		return errors.New("the signature of the call is not valid")
	}
	return nil
}

func callText(r *http.Request, body []byte, gate, at, nonce string) []byte {
	sum := sha256.Sum256(body)
	text := callContext + strings.Join([]string{gate, at, nonce, r.Method, r.URL.RequestURI()}, "\x00") + "\x00"
	return append([]byte(text), sum[:]...)
}
