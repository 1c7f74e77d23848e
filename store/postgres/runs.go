package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/store/sessions"
)

// SaveRun implements [sessions.RunStore].
func (s *Store) SaveRun(ctx context.Context, run sessions.SavedRun) (version int64, err error) {
	statement := `UPDATE store_runs SET session = $3, version = $4 + 1, saved = ` + now + `, data = $5 WHERE id = $2 AND version = $4 RETURNING version`
	if run.Version == 0 {
		statement = `INSERT INTO store_runs (id, session, version, saved, data) VALUES ($2, $3, $4 + 1, ` + now + `, $5)
			ON CONFLICT (id) DO NOTHING RETURNING version`
	}
	data := append([]byte{}, run.Data...) // never NULL
	err = s.pool.QueryRow(ctx, statement, s.clock.argument(), run.ID, run.Session, run.Version, data).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("run %q: %w: this one was version %d", run.ID, sessions.ErrRunChanged, run.Version)
	}
	return version, fault(err)
}

// LoadRun implements [sessions.RunStore].
func (s *Store) LoadRun(ctx context.Context, id string) (run sessions.SavedRun, err error) {
	err = s.pool.QueryRow(ctx, "SELECT id, session, version, saved, data FROM store_runs WHERE id = $1", id).
		Scan(&run.ID, &run.Session, &run.Version, &run.Saved, &run.Data)
	if errors.Is(err, pgx.ErrNoRows) {
		return run, fmt.Errorf("run %q: %w", id, sessions.ErrRunNotFound)
	}
	return run, fault(err)
}

// Runs implements [sessions.RunStore].
func (s *Store) Runs(ctx context.Context) ([]sessions.SavedRun, error) {
	rows, err := s.pool.Query(ctx, "SELECT id, session, version, saved FROM store_runs ORDER BY saved, id")
	if err != nil {
		return nil, fault(err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (run sessions.SavedRun, err error) {
		err = row.Scan(&run.ID, &run.Session, &run.Version, &run.Saved)
		return run, err
	})
	return out, fault(err)
}

// DeleteRun implements [sessions.RunStore].
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	tag, err := s.pool.Exec(ctx, "DELETE FROM store_runs WHERE id = $1", id)
	if err == nil && tag.RowsAffected() == 0 {
		return fmt.Errorf("run %q: %w", id, sessions.ErrRunNotFound)
	}
	return fault(err)
}
