package wire

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// policyContext begins what the holder of the team's key signs to be let in. It has a byte that no signed note can
// have, so that such a signature is never one of a bundle.
const policyContext = "assent-policy-call-v1\x00"

// policyScheme is how the header of a call begins that is signed with the team's key.
const policyScheme = "Assent-Policy "

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
	at, nonce := strconv.FormatInt(now.Unix(), 10), rand.Text()
	signature, err := key.Sign(policyText(r, body, key.Name(), at, nonce))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", policyScheme+strings.Join([]string{key.Name(), at, nonce, base64.RawURLEncoding.EncodeToString(signature)}, " "))
	return nil
}

// IsPolicyCall reports whether a call says that it is signed with the team's key; it is not verified yet.
func IsPolicyCall(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), policyScheme)
}

// VerifyPolicyCall reports why a call was not made by the holder of the team's key.
func VerifyPolicyCall(r *http.Request, body []byte, key Verifier, now time.Time) error {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), policyScheme)
	parts := strings.Split(rest, " ")
	if !ok || len(parts) != 4 {
		return errors.New("the call is not signed with the team's key")
	}
	at, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return errors.New("the time of the call is not a number")
	}
	if off := now.Sub(time.Unix(at, 0)); off.Abs() > MaxSkew {
		return fmt.Errorf("your clock differs by %v from the server's; set it", off.Abs().Round(time.Second))
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[3])
	if err != nil || parts[0] != key.Name() || !key.Verify(policyText(r, body, parts[0], parts[1], parts[2]), signature) {
		return errors.New("the call is not signed with the key of this team")
	}
	return nil
}

func policyText(r *http.Request, body []byte, name, at, nonce string) []byte {
	return append([]byte(policyContext), callText(r, body, name, at, nonce)...)
}
