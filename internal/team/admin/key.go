package admin

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Key is a private key with its public half, as note writes them.
type Key struct {
	note.Signer
	Public string
}

// MakeKey makes a key with a name, and returns both halves as note writes them.
func MakeKey(name string) (private, public string, err error) {
	return note.GenerateKey(rand.Reader, name)
}

// ReadKey reads a private key from a file that only its owner can read.
func ReadKey(file string) (Key, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Key{}, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return Key{}, fmt.Errorf("others can read %s; run: chmod 600 %s", file, file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return Key{}, err
	}
	key, err := ParseKey(string(bytes.TrimSpace(data)))
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", file, err)
	}
	return key, nil
}

// ParseKey reads a private key. The error does not have its text: that may be a key with a mistake.
func ParseKey(private string) (Key, error) {
	invalid := errors.New("it is not a private key: the file begins with PRIVATE+KEY+ and has one line")
	signer, err := note.NewSigner(private)
	if err != nil {
		return Key{}, invalid
	}
	parts := strings.SplitN(private, "+", 5) // PRIVATE, KEY, the name, its hash, and the key, which may have a +
	secret, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	const ed25519Key = 1 // the algorithm
	if err != nil || len(secret) != 1+ed25519.SeedSize || secret[0] != ed25519Key {
		return Key{}, invalid
	}
	public, err := note.NewEd25519VerifierKey(signer.Name(), ed25519.NewKeyFromSeed(secret[1:]).Public().(ed25519.PublicKey))
	if err != nil {
		return Key{}, invalid
	}
	return Key{signer, public}, nil
}
