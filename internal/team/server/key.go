package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"
)

// logName is the name of the key that signs a team's checkpoints.
func logName(tenant string) string { return tenant + "-log" }

// MakeLogKey makes the key that signs the checkpoints of a team, in a new file, and returns its public half. All
// replicas need the same file.
func MakeLogKey(path, tenant string) (public string, err error) {
	if !ValidName("-", tenant) {
		return "", fmt.Errorf("invalid tenant %q: use lower-case letters, digits and -, such as acme", tenant)
	}
	secret, public, err := note.GenerateKey(rand.Reader, logName(tenant))
	if err != nil {
		return "", err
	}
	// Its folder may be /etc/assent, where everybody's assent reads policy.yaml. The key itself is its owner's alone.
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w; all replicas use this key, and machines know it: keep it, or name another file", err)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(secret + "\n")
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return public, err
}

// ReadLogKey reads what MakeLogKey wrote.
func ReadLogKey(path string) (note.Signer, error) {
	secret, err := Secret(path)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("log_key: %s is missing; 'assent serve key %s' makes it, once for all replicas", path, path)
	}
	if err != nil {
		return nil, fmt.Errorf("log_key: %w", err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, fmt.Errorf("log_key: %s does not hold a key that 'assent serve key' made", path)
	}
	return signer, nil
}
