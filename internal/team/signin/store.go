package signin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/assent-dev/assent/internal/team/db"
)

// A store keeps sessions in the database of the team. The manager hands it hashes of the tokens that browsers
// have, so that whoever reads the table has no session.
type store struct{ db *db.DB }

var _ scs.CtxStore = (*store)(nil)

// hashed is how the manager names a session in the store.
func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s *store) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	data, err := s.db.WebSession(ctx, token)
	if errors.Is(err, db.ErrNotFound) {
		return nil, false, nil
	}
	return data, err == nil, err
}

func (s *store) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return s.db.SaveWebSession(ctx, token, data, expiry)
}

func (s *store) DeleteCtx(ctx context.Context, token string) error {
	return s.db.DeleteWebSession(ctx, token)
}

// The manager calls the methods with a context; these are for its interface.

func (s *store) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

func (s *store) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

func (s *store) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }
