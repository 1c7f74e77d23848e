package proof

import (
	"bytes"
	"errors"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// Signed reports why a passkey did not sign a text for a purpose that is not an answer, such as to vouch for another
// key. What is signed begins with the purpose, so that it cannot be taken for an answer.
func Signed(c Credential, purpose, text string, p approval.Proof) error {
	message := []byte(purpose + "\x00" + text)
	switch err := c.Validate(); {
	case err != nil:
		return err
	case c.Kind != KindPasskey:
		return errors.New("only a passkey can sign this")
	case strings.Contains(purpose, "\x00") || bytes.HasPrefix(message, []byte(answerContext)) || bytes.HasPrefix(message, []byte(batchContext)):
		return errors.New("an answer is not signed like this")
	case c.ID != p.Credential || !c.Revoked.IsZero():
		return ErrUnknownKey
	}
	return verifyPasskey(c, message, p)
}
