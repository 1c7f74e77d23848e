//go:build all && linux

package pgtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/internal/pgtest"
)

// ask connects, runs a statement and scans its one value.
func ask(t *testing.T, dsn, statement string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var value string
	if err := conn.QueryRow(t.Context(), statement).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestEachCallGivesAnEmptyDatabase(t *testing.T) {
	a, b := pgtest.Start(t), pgtest.Start(t)
	first := a.DSN()
	run(t, first, `CREATE TABLE a AS SELECT 1 AS v`)
	for _, dsn := range []string{a.DSN(), b.DSN()} {
		if got := ask(t, dsn, `SELECT count(*)::text FROM pg_tables WHERE schemaname = 'public'`); got != "0" {
			t.Errorf("%s has %s tables", dsn, got)
		}
	}
}

func TestWhatWasCommittedSurvivesAKill(t *testing.T) {
	s := pgtest.Start(t, pgtest.Options{Loopback: true})
	dsn := s.LoopbackDSN()
	run(t, dsn, `CREATE TABLE a AS SELECT 'kept' AS v`)
	s.Kill()
	if _, err := pgx.Connect(t.Context(), dsn); err == nil {
		t.Fatal("a killed server answers")
	}
	s.Restart()
	if got := ask(t, dsn, `SELECT v FROM a`); got != "kept" {
		t.Errorf("got %q", got)
	}
}

func TestAServerOfItsOwnLeavesNothing(t *testing.T) {
	dir, err := os.MkdirTemp("", "pgtest-of-a-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { // its user goes through it
		t.Fatal(err)
	}
	t.Run("one", func(t *testing.T) { pgtest.Start(t, pgtest.Options{Dir: dir}).DSN() })
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// run connects and runs a statement.
func run(t *testing.T, dsn, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
