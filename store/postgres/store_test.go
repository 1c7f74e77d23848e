//go:build all && linux

package postgres_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/postgres"
	"github.com/assent-dev/assent/store/sessions"
)

// openStore opens a store until the test ends.
func openStore(t testing.TB, dsn string, opt postgres.Options) *postgres.Store {
	t.Helper()
	if opt.Warn == nil {
		opt.Warn = func(err error) { t.Log(err) }
	}
	s, err := postgres.Open(t.Context(), dsn, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

// mortal is a store whose processes die when the suite says so: their leases end then.
type mortal struct {
	*postgres.Store
	pool  *pgxpool.Pool
	alive *atomic.Value
}

// bury ends the leases of the dead.
func (m mortal) bury(ctx context.Context) error {
	rows, err := m.pool.Query(ctx, "SELECT process FROM store_leases")
	if err != nil {
		return err
	}
	var dead []string
	for rows.Next() {
		var key string
		var p sessions.Process
		if err := rows.Scan(&key); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(key), &p); err != nil {
			return err
		}
		if !m.alive.Load().(func(sessions.Process) bool)(p) {
			dead = append(dead, key)
		}
	}
	if rows.Err() != nil || dead == nil {
		return rows.Err()
	}
	_, err = m.pool.Exec(ctx, "UPDATE store_leases SET until = 'epoch' WHERE process = ANY($1)", dead)
	return err
}

func (m mortal) Grants(ctx context.Context, session string) (*policy.GrantSet, error) {
	if err := m.bury(ctx); err != nil {
		return nil, err
	}
	return m.Store.Grants(ctx, session)
}

func (m mortal) CleanSessions(ctx context.Context) ([]sessions.Session, error) {
	if err := m.bury(ctx); err != nil {
		return nil, err
	}
	return m.Store.CleanSessions(ctx)
}

func (m mortal) Open(ctx context.Context, session string) ([]approval.Posted, error) {
	if err := m.bury(ctx); err != nil {
		return nil, err
	}
	return m.Store.Open(ctx, session)
}

func TestStore(t *testing.T) {
	approvaltest.TestStore(t, func(t *testing.T) approvaltest.Pair {
		dsn := pgtest.Start(t).DSN()
		var alive atomic.Value
		alive.Store(func(sessions.Process) bool { return true })
		p := approvaltest.Pair{Clock: new(approvaltest.Clock), Alive: func(f func(sessions.Process) bool) { alive.Store(f) }}
		opt := postgres.Options{Clock: p.Clock.Now, Stream: "shared"}
		look := pool(t, dsn)
		p.One = mortal{openStore(t, dsn, opt), look, &alive}
		p.Two = mortal{openStore(t, dsn, opt), look, &alive}
		return p
	})
}
