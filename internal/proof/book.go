package proof

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Kept is where keys and tokens lie: the store.
type Kept interface {
	Preferences(ctx context.Context, prefix string) (map[string]string, error)
	SetPreference(ctx context.Context, name, value string) error
}

// A Book has the keys that answers may be signed with, and the tokens of the API. It is safe for
// concurrent use.
type Book struct{ kept Kept }

// NewBook returns the book of a store.
func NewBook(kept Kept) *Book { return &Book{kept} }

const (
	keyPrefix   = "key/"
	tokenPrefix = "token/"
)

// AddKey lets a key answer at the server of its session.
func (b *Book) AddKey(ctx context.Context, key Key) (id string, err error) {
	if _, err := ParseKey(key.Public); err != nil {
		return "", err
	}
	if key.Session == "" || key.Created.IsZero() {
		return "", errors.New("a key belongs to a session, and has a beginning")
	}
	id = ID(key.Public)
	return id, b.put(ctx, keyPrefix+id, key)
}

// Keys returns all keys that are kept, by their ids.
func (b *Book) Keys(ctx context.Context) (map[string]Key, error) {
	return read[Key](ctx, b.kept, keyPrefix)
}

// Key implements [Directory].
func (b *Book) Key(ctx context.Context, id string) (Key, bool, error) {
	all, err := read[Key](ctx, b.kept, keyPrefix+id)
	key, ok := all[""]
	return key, ok, err
}

// Live returns a key that can sign for a session now.
func (b *Book) Live(ctx context.Context, id, session string, now time.Time) (Key, bool, error) {
	key, ok, err := b.Key(ctx, id)
	return key, ok && key.Session == session && key.holds(now), err
}

// keepKeys is how long a key is kept after its end, for answers that were given before and are taken late.
const keepKeys = 90 * 24 * time.Hour

// EndKeys ends a key, or with "" all of a session; what was signed before still counts. Keys that ended
// long ago are forgotten.
func (b *Book) EndKeys(ctx context.Context, id, session string, now time.Time) error {
	all, err := b.Keys(ctx)
	if err != nil {
		return err
	}
	for name, key := range all {
		switch {
		case now.Sub(key.Created) > keepKeys:
			err = b.kept.SetPreference(ctx, keyPrefix+name, "")
		case key.Ended.IsZero() && (name == id || id == "" && key.Session == session):
			key.Ended = now
			err = b.put(ctx, keyPrefix+name, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Right is what a token may be used for. There is none for approving.
type Right string

// The rights.
const (
	RightRead Right = "read" // see requests, records, rules and status
	RightDeny Right = "deny" // deny a request, once
)

// A Token lets a program of the user's own use the API.
type Token struct {
	Name    string    `json:"name"`
	Rights  []Right   `json:"rights"`
	Digest  []byte    `json:"digest"` // SHA-256 of the secret
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

// tokenMark begins every token, so that people and scanners recognise one.
const tokenMark = "assent_"

// MakeToken makes a token and returns its secret, which is kept nowhere.
func (b *Book) MakeToken(ctx context.Context, t Token) (id, secret string, err error) {
	if len(t.Rights) == 0 {
		return "", "", errors.New("a token needs a right: read, deny or both")
	}
	for _, r := range t.Rights {
		if r != RightRead && r != RightDeny {
			return "", "", fmt.Errorf("unknown right %q: use read or deny; no token can approve", r)
		}
	}
	id = strings.ToLower(rand.Text()[:10])
	secret = tokenMark + id + "_" + rand.Text()
	sum := sha256.Sum256([]byte(secret))
	t.Digest = sum[:]
	return id, secret, b.put(ctx, tokenPrefix+id, t)
}

// Tokens returns the tokens by their ids.
func (b *Book) Tokens(ctx context.Context) (map[string]Token, error) {
	return read[Token](ctx, b.kept, tokenPrefix)
}

// RevokeToken ends a token.
func (b *Book) RevokeToken(ctx context.Context, id string) error {
	all, err := b.Tokens(ctx)
	if err != nil {
		return err
	}
	if _, ok := all[id]; !ok {
		return fmt.Errorf("no token has the id %q; 'assent api tokens' lists them", id)
	}
	return b.kept.SetPreference(ctx, tokenPrefix+id, "")
}

// Token returns the token of a secret, if it is one that holds now.
func (b *Book) Token(ctx context.Context, secret string, now time.Time) (Token, bool, error) {
	id, _, ok := strings.Cut(strings.TrimPrefix(secret, tokenMark), "_")
	if !ok || !strings.HasPrefix(secret, tokenMark) {
		return Token{}, false, nil
	}
	all, err := read[Token](ctx, b.kept, tokenPrefix+id)
	t, there := all[""]
	if err != nil || !there {
		return Token{}, false, err
	}
	sum := sha256.Sum256([]byte(secret))
	holds := subtle.ConstantTimeCompare(sum[:], t.Digest) == 1 && (t.Expires.IsZero() || now.Before(t.Expires))
	return t, holds, nil
}

// May reports whether the token has a right.
func (t Token) May(r Right) bool { return slices.Contains(t.Rights, r) }

func (b *Book) put(ctx context.Context, name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return b.kept.SetPreference(ctx, name, string(data))
}

// read returns what is kept under a prefix, by the rest of the names.
func read[T any](ctx context.Context, kept Kept, prefix string) (map[string]T, error) {
	all, err := kept.Preferences(ctx, prefix)
	if err != nil {
		return nil, err
	}
	out := make(map[string]T, len(all))
	for name, text := range all {
		var value T
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[strings.TrimPrefix(name, prefix)] = value
	}
	return out, nil
}
