package proof

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
)

// A passkey signs its own data, of which the first bytes are the hash of the host that it is for, some
// flags and a counter, and the hash of what the browser says about the page that wants the signature. Of keys that are
// copied to several devices the counter says nothing, so that it does not count.
const (
	hostBytes  = 32
	plainBytes = hostBytes + 1 + 4 // without what an extension adds

	flagPresent  = 0x01 // somebody touched it
	flagVerified = 0x04 // and showed who they are
	flagBackup   = 0x08 // it may be copied
	flagBackedUp = 0x10 // it has been
	flagNew      = 0x40 // data of a key that was just made
	flagExtended = 0x80
)

// verifyPasskey reports why the passkey did not sign the message, which stands in the browser's data as its hash.
func verifyPasskey(c Credential, message []byte, p approval.Proof) error {
	key, err := ParseKey(c.Public)
	if err != nil {
		return err
	}
	if err := checkAuthenticator(p.Authenticator, c.RP); err != nil {
		return err
	}
	challenge := sha256.Sum256(message)
	if err := checkClient(p.Client, c.RP, base64.RawURLEncoding.EncodeToString(challenge[:])); err != nil {
		return err
	}
	client := sha256.Sum256(p.Client)
	sum := sha256.Sum256(slices.Concat(p.Authenticator, client[:]))
	if !ecdsa.VerifyASN1(key, sum[:], p.Signature) {
		return ErrBadSignature
	}
	return nil
}

// checkAuthenticator reads what the passkey says about itself.
func checkAuthenticator(data []byte, rp string) error {
	if len(data) < plainBytes {
		return fmt.Errorf("the data of the passkey has %d bytes; it needs %d", len(data), plainBytes)
	}
	flags := data[hostBytes]
	switch host := sha256.Sum256([]byte(rp)); {
	case string(data[:hostBytes]) != string(host[:]):
		return errors.New("the passkey signed for another host")
	case flags&flagPresent == 0 || flags&flagVerified == 0:
		return errors.New("the passkey was not touched by somebody who showed who they are")
	case flags&flagNew != 0, flags&flagBackedUp != 0 && flags&flagBackup == 0,
		(flags&flagExtended != 0) != (len(data) > plainBytes):
		return errors.New("the data of the passkey is not that of an answer")
	}
	return nil
}

// checkClient reads what the browser says. Browsers may add keys; none may be there twice.
func checkClient(data []byte, rp, challenge string) error {
	if _, err := canonical.Arguments(data); err != nil {
		return fmt.Errorf("the data of the browser: %w", err)
	}
	var said map[string]json.RawMessage // a struct would take keys in any case
	if err := json.Unmarshal(data, &said); err != nil {
		return fmt.Errorf("the data of the browser: %w", err)
	}
	var kind, signed, origin string
	for name, value := range map[string]*string{"type": &kind, "challenge": &signed, "origin": &origin} {
		if err := json.Unmarshal(said[name], value); err != nil {
			return fmt.Errorf("the data of the browser: %s: %w", name, err)
		}
	}
	cross, framed := said["crossOrigin"]
	_, topped := said["topOrigin"]
	switch {
	case kind != "webauthn.get":
		return fmt.Errorf("the browser did not ask for an answer, but for %q", kind)
	case signed != challenge:
		return fmt.Errorf("%w: the passkey signed something else", ErrBadSignature)
	case !originOf(origin, rp) || framed && string(cross) != "false" || topped:
		return fmt.Errorf("the page at %q may not ask for answers", origin)
	}
	return nil
}

// originOf reports whether a page is of the host itself, over TLS or on this very machine.
func originOf(origin, rp string) bool {
	rest, ok := strings.CutPrefix(origin, "https://"+rp)
	if !ok && rp == "localhost" {
		rest, ok = strings.CutPrefix(origin, "http://"+rp)
	}
	if !ok || rest == "" {
		return ok
	}
	port, ok := strings.CutPrefix(rest, ":")
	n, err := strconv.ParseUint(port, 10, 16)
	return ok && err == nil && strconv.FormatUint(n, 10) == port
}
