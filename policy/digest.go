package policy

import "github.com/assent-dev/assent/internal/digest"

// A Digest is a SHA-256 hash, written sha256: and the hash in hex. The zero Digest stands for
// "none".
type Digest = digest.Digest

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest { return digest.Of(data) }
