package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// versionsTable has a row for every step that was taken, so the unique key decides which of
// several replicas that start at once takes it.
const versionsTable = `CREATE TABLE IF NOT EXISTS schema_versions (
	component text NOT NULL,
	version   integer NOT NULL,
	at        timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (component, version)
)`

// Migrate brings a component's tables to what this program knows: it takes the steps that
// were not taken yet, each in a transaction of its own. A step may be several statements, is
// never changed once it was released, and there is no way back. Replicas may call it at once.
//
// A database that a newer program has migrated is refused.
func Migrate(ctx context.Context, pool *pgxpool.Pool, component string, steps []string) error {
	if err := migrate(ctx, pool, component, steps); err != nil {
		return fmt.Errorf("migrate the tables of %q: %w", component, err)
	}
	return nil
}

func migrate(ctx context.Context, pool *pgxpool.Pool, component string, steps []string) error {
	if err := createVersions(ctx, pool); err != nil {
		return err
	}
	version, err := versionOf(ctx, pool, component)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("the database has version %d and this program knows version %d: it was migrated by a newer assent; run that one, or go back to a backup", version, len(steps))
	}
	for version < len(steps) {
		version++
		if err := take(ctx, pool, component, version, steps[version-1]); err != nil {
			return fmt.Errorf("step %d: %w", version, err)
		}
	}
	return nil
}

// createVersions makes the table of versions. Two sessions that create it at once may collide
// in PostgreSQL's own tables in spite of IF NOT EXISTS; the loser finds it when it looks again.
func createVersions(ctx context.Context, pool *pgxpool.Pool) error {
	_, err := pool.Exec(ctx, versionsTable)
	switch code(err) {
	case uniqueViolation, duplicateTable, duplicateObject:
		_, err = pool.Exec(ctx, versionsTable)
	}
	return err
}

// versionOf is how many steps of a component were taken.
func versionOf(ctx context.Context, pool *pgxpool.Pool, component string) (int, error) {
	var version int
	err := pool.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM schema_versions WHERE component = $1`, component).Scan(&version)
	return version, err
}

// take takes one step unless somebody else took it. Who inserts the row first takes the step;
// the insert of another waits until that transaction has ended, and then either finds the row
// or takes the step itself.
func take(ctx context.Context, pool *pgxpool.Pool, component string, version int, step string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO schema_versions (component, version) VALUES ($1, $2) ON CONFLICT DO NOTHING`, component, version)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, step)
		return err
	})
}
