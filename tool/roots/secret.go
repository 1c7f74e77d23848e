package roots

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// DefaultSecrets are the files that ask even where reads are free.
var DefaultSecrets = []string{
	".env", ".env.*", "!.env.example", ".envrc",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_*_sk",
	"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.kdbx",
	".ssh", ".aws", ".azure", ".gnupg", ".password-store", ".config/gcloud", ".config/gh",
	".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".vault-token", ".htpasswd",
	".kube/config", ".docker/config.json",
	".assent-*", // what a crash of a file tool may leave beside a file
}

// A pattern matches elements of a path that stand in a row.
type pattern struct {
	elements []string
	except   bool
}

type patterns []pattern

func compilePatterns(texts []string) (patterns, error) {
	var out patterns
	for _, text := range texts {
		bare, except := strings.CutPrefix(text, "!")
		p := pattern{elements: strings.Split(strings.Trim(bare, "/"), "/"), except: except}
		for i, element := range p.elements {
			if _, err := path.Match(element, ""); err != nil || element == "" {
				return nil, fmt.Errorf("secret pattern %q is malformed", text)
			}
			p.elements[i] = strings.ToLower(element)
		}
		out = append(out, p)
	}
	return out, nil
}

// CheckSecrets reports what is wrong with patterns for [Options].
func CheckSecrets(texts []string) error {
	_, err := compilePatterns(texts)
	return err
}

// match reports whether the path, or a folder above it, is one of those meant.
func (ps patterns) match(abs string) bool {
	elements := strings.Split(fold(abs), "/")
	for i := range elements {
		at := func(p pattern) bool { return p.matchAt(elements[i:]) }
		meant := func(p pattern) bool { return !p.except && at(p) }
		excepted := func(p pattern) bool { return p.except && at(p) }
		if slices.ContainsFunc(ps, meant) && !slices.ContainsFunc(ps, excepted) {
			return true
		}
	}
	return false
}

func (p pattern) matchAt(elements []string) bool {
	if len(elements) < len(p.elements) {
		return false
	}
	for i, want := range p.elements {
		if ok, _ := path.Match(want, elements[i]); !ok {
			return false
		}
	}
	return true
}
