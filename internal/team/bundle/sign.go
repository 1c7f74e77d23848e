package bundle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Version is the version of bundles that this program makes and reads.
const Version = 1

// MaxBytes is how large a signed bundle may be.
const MaxBytes = 8 << 20

// head is the first line of the text, so that no other note of the team's key can be taken for a bundle.
const head = "assent bundle 1\n"

// ErrRefused says that a text is not a bundle which the team's key signed; match with [errors.Is].
var ErrRefused = errors.New("the bundle is refused")

// Sign returns the bundle with the signature of the team's key.
func Sign(b *Bundle, signer note.Signer) ([]byte, error) {
	text, err := b.text()
	if err == nil {
		err = b.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("the bundle cannot be signed: %w", err)
	}
	data, err := note.Sign(&note.Note{Text: text}, signer)
	if err == nil && len(data) > MaxBytes {
		err = fmt.Errorf("the bundle has %d bytes; at most %d are taken", len(data), MaxBytes)
	}
	return data, err
}

// text is the one spelling of the bundle.
func (b *Bundle) text() (string, error) {
	line, err := json.Marshal(b)
	return head + string(line) + "\n", err
}

// Open returns the bundle, if the key that is trusted signed it and nothing was changed. Trust is the public
// half of the team's key as note writes it. There is no way to open one without: a signature that was taken
// off is a bundle that nobody signed.
func Open(data []byte, trust string) (*Bundle, error) {
	b, err := open(data, trust)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return b, nil
}

// OpenFor is [Open] for the bundles of one team: those of another may have been signed with the same key.
func OpenFor(tenant string, data []byte, trust string) (*Bundle, error) {
	b, err := Open(data, trust)
	if err == nil && b.Tenant != tenant {
		err = fmt.Errorf("%w: it belongs to the team %q, and this is the team %q", ErrRefused, b.Tenant, tenant)
	}
	return b, err
}

// Serials returns a function that opens a bundle of the team and returns its serial.
func Serials(tenant, trust string) func(data []byte) (int64, error) {
	return func(data []byte) (int64, error) {
		b, err := OpenFor(tenant, data, trust)
		if err != nil {
			return 0, err
		}
		return b.Serial, nil
	}
}

func open(data []byte, trust string) (*Bundle, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	key, err := note.NewVerifier(trust)
	if err != nil {
		return nil, fmt.Errorf("the key to trust: %w", err)
	}
	signed, err := note.Open(data, note.VerifierList(key))
	var nobody *note.UnverifiedNoteError
	switch {
	case errors.As(err, &nobody):
		return nil, fmt.Errorf("it is not signed with the team's key %s", key.Name())
	case err != nil:
		return nil, err
	case !oneSpelling(data, signed):
		return nil, errors.New("it has more than the one signature of the team's key, or another spelling of it")
	}
	line, ok := strings.CutPrefix(signed.Text, head)
	if !ok {
		return nil, errors.New("what is signed is not a bundle, or one of a later version")
	}
	b := new(Bundle)
	if err := json.Unmarshal([]byte(line), b); err != nil {
		return nil, fmt.Errorf("its JSON: %w", err)
	}
	if again, err := b.text(); err != nil || again != signed.Text {
		return nil, errors.New("its JSON has unknown, doubled or misspelled keys")
	}
	return b, b.Validate()
}

// oneSpelling reports whether the note is exactly what the signer wrote: base64 has spare bits, and a note may
// have signatures of strangers.
func oneSpelling(data []byte, n *note.Note) bool {
	if len(n.Sigs) != 1 || len(n.UnverifiedSigs) > 0 {
		return false
	}
	s := n.Sigs[0]
	if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
		return false
	}
	return bytes.Equal(data, []byte(n.Text+"\n— "+s.Name+" "+s.Base64+"\n"))
}
