//go:build all && linux

package postgres_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/store/postgres"
)

// pool is connected to an empty database.
func pool(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

var steps = []string{
	`CREATE TABLE a (n integer); INSERT INTO a VALUES (1)`,
	`ALTER TABLE a ADD COLUMN m integer DEFAULT 2; UPDATE a SET n = n + 1`,
}

func TestMigrateTakesEachStepOnce(t *testing.T) {
	dsn := pgtest.Start(t).DSN()
	var replicas sync.WaitGroup
	for range 8 {
		p := pool(t, dsn)
		replicas.Go(func() {
			if err := postgres.Migrate(t.Context(), p, "test", steps); err != nil {
				t.Error(err)
			}
		})
	}
	replicas.Wait()
	var n, m, rows int
	err := pool(t, dsn).QueryRow(t.Context(), `SELECT max(n), max(m), count(*) FROM a`).Scan(&n, &m, &rows)
	if err != nil || n != 2 || m != 2 || rows != 1 {
		t.Errorf("n %d, m %d, rows %d, %v; want 2, 2, 1", n, m, rows, err)
	}
}

func TestMigrateTakesOnlyNewSteps(t *testing.T) {
	p := pool(t, pgtest.Start(t).DSN())
	for _, known := range [][]string{steps[:1], steps, steps} {
		if err := postgres.Migrate(t.Context(), p, "test", known); err != nil {
			t.Fatal(err)
		}
	}
	if err := postgres.Migrate(t.Context(), p, "other", []string{`CREATE TABLE b (n integer)`}); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := p.QueryRow(t.Context(), `SELECT sum(n) FROM a`).Scan(&n); err != nil || n != 2 {
		t.Errorf("n is %d, %v; want 2", n, err)
	}
}

func TestMigrateRefusesANewerDatabase(t *testing.T) {
	p := pool(t, pgtest.Start(t).DSN())
	if err := postgres.Migrate(t.Context(), p, "test", steps); err != nil {
		t.Fatal(err)
	}
	err := postgres.Migrate(t.Context(), p, "test", steps[:1])
	if err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("got %v; want an error that says it is newer", err)
	}
}

func TestAFailedStepLeavesNothing(t *testing.T) {
	p := pool(t, pgtest.Start(t).DSN())
	if err := postgres.Migrate(t.Context(), p, "test", []string{`CREATE TABLE a (n integer); nonsense`}); err == nil {
		t.Fatal("a step that is no SQL was taken")
	}
	if err := postgres.Migrate(t.Context(), p, "test", steps); err != nil {
		t.Fatal(err)
	}
}
