package approval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

const digestPrefix = "sha256:"

// A Digest is a SHA-256 hash. The zero Digest stands for "none".
type Digest [sha256.Size]byte

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

// IsZero reports whether d is the zero Digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns "sha256:" and the hash in hex, or "" for the zero Digest.
func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	var room [len(digestPrefix) + 2*sha256.Size]byte
	return string(d.appendText(room[:0]))
}

func (d Digest) appendText(b []byte) []byte {
	return hex.AppendEncode(append(b, digestPrefix...), d[:])
}

// MarshalText implements [encoding.TextMarshaler].
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return []byte{}, nil
	}
	return d.appendText(make([]byte, 0, len(digestPrefix)+2*sha256.Size)), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It refuses anything that
// [Digest.String] would not write.
func (d *Digest) UnmarshalText(text []byte) error {
	*d = Digest{}
	if len(text) == 0 {
		return nil
	}
	digits, ok := strings.CutPrefix(string(text), digestPrefix)
	if !ok || len(digits) != 2*sha256.Size {
		return fmt.Errorf("digest %q: want %q and %d hex digits", text, digestPrefix, 2*sha256.Size)
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

// A fieldHash hashes a sequence of fields. Every field carries its length, so
// two different sequences never feed the same bytes to the hash.
type fieldHash struct {
	h       hash.Hash
	pending []byte // what gathers on its way into the hash
}

// pendingHash is how many bytes gather.
const pendingHash = 512

func newFieldHash(purpose string) *fieldHash {
	f := &fieldHash{h: sha256.New(), pending: make([]byte, 0, pendingHash)}
	f.text(purpose)
	return f
}

// feed adds bytes without their length.
func feed[T string | []byte](f *fieldHash, field T) {
	for len(field) > 0 {
		n := min(len(field), cap(f.pending)-len(f.pending))
		f.pending = append(f.pending, field[:n]...)
		field = field[n:]
		if len(f.pending) == cap(f.pending) {
			f.flush()
		}
	}
}

func (f *fieldHash) flush() {
	f.h.Write(f.pending)
	f.pending = f.pending[:0]
}

func (f *fieldHash) count(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	feed(f, b[:])
}

func (f *fieldHash) bytes(b []byte) {
	f.count(len(b))
	feed(f, b)
}

func (f *fieldHash) text(s string) {
	f.count(len(s))
	feed(f, s)
}

func (f *fieldHash) texts(list []string) {
	f.count(len(list))
	for _, s := range list {
		f.text(s)
	}
}

func (f *fieldHash) digest(d Digest) { feed(f, d[:]) }

func (f *fieldHash) flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	f.count(n)
}

func (f *fieldHash) sum() (d Digest) {
	f.flush()
	f.h.Sum(d[:0])
	return d
}
