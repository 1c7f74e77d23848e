package roots

import (
	"fmt"
	"path"
	"strings"
)

// DefaultSecrets are the files that ask even where reads are free.
func DefaultSecrets() []string {
	return []string{
		".env", ".env.*", "!.env.example", ".envrc",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_*_sk",
		"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.kdbx",
		".ssh", ".aws", ".azure", ".gnupg", ".password-store", ".config/gcloud", ".config/gh",
		".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".vault-token", ".htpasswd",
		".kube/config", ".docker/config.json",
		".assent-*", // what a crash of a file tool may leave beside a file
	}
}

// A pattern matches elements of a path that stand in a row.
type pattern struct {
	elements []element
	except   bool
}

type patterns []pattern

// An element is a glob for one element of a path. Most have at most one `*` and
// no other special character: then head and tail say it all.
type element struct {
	glob       string
	simple     bool
	head, tail string
	star       bool
}

func compilePatterns(texts []string) (patterns, error) {
	var out patterns
	for _, text := range texts {
		bare, except := strings.CutPrefix(text, "!")
		p := pattern{except: except}
		for glob := range strings.SplitSeq(strings.Trim(bare, "/"), "/") {
			if _, err := path.Match(glob, ""); err != nil || glob == "" {
				return nil, fmt.Errorf("secret pattern %q is malformed", text)
			}
			p.elements = append(p.elements, compileElement(strings.ToLower(glob)))
		}
		out = append(out, p)
	}
	return out, nil
}

func compileElement(glob string) element {
	e := element{glob: glob}
	e.head, e.tail, e.star = strings.Cut(glob, "*")
	e.simple = !strings.ContainsAny(e.head+e.tail, `*?[\`)
	return e
}

func (e *element) match(name string) bool {
	switch {
	case !e.simple:
		ok, _ := path.Match(e.glob, name)
		return ok
	case !e.star:
		return name == e.head
	}
	return len(name) >= len(e.head)+len(e.tail) && strings.HasPrefix(name, e.head) && strings.HasSuffix(name, e.tail)
}

// CheckSecrets reports what is wrong with patterns for [Options].
func CheckSecrets(texts []string) error {
	_, err := compilePatterns(texts)
	return err
}

// match reports whether the path, folded, or a folder above it, is one of those
// meant.
func (ps patterns) match(folded string) bool {
	name, rest, more := strings.Cut(folded, "/")
	for {
		if ps.matchAt(name, rest, false) && !ps.matchAt(name, rest, true) {
			return true
		}
		if !more {
			return false
		}
		name, rest, more = strings.Cut(rest, "/")
	}
}

// matchAt reports whether one of the patterns, or of the exceptions, is for a
// name and what follows it in the path.
func (ps patterns) matchAt(name, rest string, except bool) bool {
	for i := range ps {
		p := &ps[i]
		if p.except == except && p.elements[0].match(name) && follows(rest, p.elements[1:]) {
			return true
		}
	}
	return false
}

// follows reports whether the path begins with these elements.
func follows(rest string, elements []element) bool {
	for i := range elements {
		var name string
		if name, rest, _ = strings.Cut(rest, "/"); name == "" || !elements[i].match(name) {
			return false
		}
	}
	return true
}
