// Package digest has the hash by which calls, definitions, files and records are told apart, and
// the way in which several fields become one. It is pure.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

const prefix = "sha256:"

// A Digest is a SHA-256 hash. The zero Digest stands for "none".
type Digest [sha256.Size]byte

// Of returns the digest of data.
func Of(data []byte) Digest { return sha256.Sum256(data) }

// IsZero reports whether d is the zero Digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns "sha256:" and the hash in hex, or "" for the zero Digest.
func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	var room [len(prefix) + 2*sha256.Size]byte
	return string(d.appendText(room[:0]))
}

func (d Digest) appendText(b []byte) []byte {
	return hex.AppendEncode(append(b, prefix...), d[:])
}

// MarshalText implements [encoding.TextMarshaler].
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return []byte{}, nil
	}
	return d.appendText(make([]byte, 0, len(prefix)+2*sha256.Size)), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It refuses anything that
// [Digest.String] would not write.
func (d *Digest) UnmarshalText(text []byte) error {
	*d = Digest{}
	if len(text) == 0 {
		return nil
	}
	digits, ok := strings.CutPrefix(string(text), prefix)
	if !ok || len(digits) != 2*sha256.Size {
		return fmt.Errorf("digest %q: want %q and %d hex digits", text, prefix, 2*sha256.Size)
	}
	var read Digest
	if _, err := hex.Decode(read[:], []byte(digits)); err != nil {
		return fmt.Errorf("digest %q: %w", text, err)
	}
	if read.String() != string(text) {
		return fmt.Errorf("digest %q: want lower-case digits that are not all zero", text)
	}
	*d = read
	return nil
}

// A Fields hashes a sequence of fields. Every field carries its length, so
// two different sequences never feed the same bytes to the hash.
type Fields struct {
	h       hash.Hash
	pending []byte // what gathers on its way into the hash
}

// pendingHash is how many bytes gather.
const pendingHash = 512

// NewFields returns the hash of no fields yet, for one purpose.
func NewFields(purpose string) *Fields {
	f := &Fields{h: sha256.New(), pending: make([]byte, 0, pendingHash)}
	f.Text(purpose)
	return f
}

// feed adds bytes without their length.
func feed[T string | []byte](f *Fields, field T) {
	for len(field) > 0 {
		n := min(len(field), cap(f.pending)-len(f.pending))
		f.pending = append(f.pending, field[:n]...)
		field = field[n:]
		if len(f.pending) == cap(f.pending) {
			f.flush()
		}
	}
}

func (f *Fields) flush() {
	f.h.Write(f.pending)
	f.pending = f.pending[:0]
}

// Count adds a number.
func (f *Fields) Count(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	feed(f, b[:])
}

// Bytes adds bytes.
func (f *Fields) Bytes(b []byte) {
	f.Count(len(b))
	feed(f, b)
}

// Text adds a text.
func (f *Fields) Text(s string) {
	f.Count(len(s))
	feed(f, s)
}

// Texts adds a list of texts.
func (f *Fields) Texts(list []string) {
	f.Count(len(list))
	for _, s := range list {
		f.Text(s)
	}
}

// Digest adds a digest.
func (f *Fields) Digest(d Digest) { feed(f, d[:]) }

// Flag adds a yes or no.
func (f *Fields) Flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	f.Count(n)
}

// Sum returns the digest of all fields.
func (f *Fields) Sum() (d Digest) {
	f.flush()
	f.h.Sum(d[:0])
	return d
}
