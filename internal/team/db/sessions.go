package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Sessions keeps the web sessions of people, as scs wants a store. It has only hashes of the tokens.
type Sessions struct{ db *DB }

// Sessions returns the store of web sessions.
func (d *DB) Sessions() *Sessions { return &Sessions{d} }

// webTimeout bounds what has no context.
const webTimeout = 5 * time.Second

// FindCtx returns the data of a session that has not expired.
func (s *Sessions) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	err = s.db.pool.QueryRow(ctx, `SELECT data FROM team.web_sessions WHERE tenant = $1 AND hash = $2 AND expires > now()`,
		s.db.tenant, hashOf(token)).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("web session: %w", err)
	}
	return data, true, nil
}

// CommitCtx writes a session, unless it has ended: a call that began before somebody signed out does not bring it back.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expires time.Time) error {
	_, err := s.db.pool.Exec(ctx, `INSERT INTO team.web_sessions (tenant, hash, data, expires) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant, hash) DO UPDATE SET data = excluded.data, expires = excluded.expires
		WHERE web_sessions.expires > now()`, s.db.tenant, hashOf(token), data, expires)
	if err != nil {
		return fmt.Errorf("web session: %w", err)
	}
	return nil
}

// DeleteCtx ends a session. Its row stays until no call can be under way that has read it, see [DB.Prune].
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	_, err := s.db.pool.Exec(ctx, `UPDATE team.web_sessions SET data = '', expires = least(expires, now())
		WHERE tenant = $1 AND hash = $2`, s.db.tenant, hashOf(token))
	if err != nil {
		return fmt.Errorf("web session: %w", err)
	}
	return nil
}

// Find is FindCtx.
func (s *Sessions) Find(token string) ([]byte, bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), webTimeout)
	defer cancel()
	return s.FindCtx(ctx, token)
}

// Commit is CommitCtx.
func (s *Sessions) Commit(token string, data []byte, expires time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), webTimeout)
	defer cancel()
	return s.CommitCtx(ctx, token, data, expires)
}

// Delete is DeleteCtx.
func (s *Sessions) Delete(token string) error {
	ctx, cancel := context.WithTimeout(context.Background(), webTimeout)
	defer cancel()
	return s.DeleteCtx(ctx, token)
}
