package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of PostgreSQL's errors that mean something here.
const (
	uniqueViolation      = "23505"
	duplicateTable       = "42P07"
	duplicateObject      = "42710"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

// code is the code of a PostgreSQL error, or "".
func code(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return ""
}

// fault says whose error it is, at the border.
func fault(err error) error {
	if err == nil || !foreign(err) {
		return err
	}
	return fmt.Errorf("the store's database: %w", err)
}

// foreign reports whether an error comes from PostgreSQL or from the way there.
func foreign(err error) bool {
	var connect *pgconn.ConnectError
	return code(err) != "" || errors.As(err, &connect) || errors.Is(err, pgx.ErrTxClosed) || lost(err)
}

// lost reports whether an error says that the database is away, and not that it refuses: it may come back.
func lost(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	switch c := code(err); {
	case strings.HasPrefix(c, "08"), strings.HasPrefix(c, "57P"), strings.HasPrefix(c, "53"):
		return true // connection, shutdown or start, no room
	case c != "":
		return false
	}
	return errors.As(err, &network) || errors.As(err, &connect) || pgconn.SafeToRetry(err) ||
		strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "conn closed")
}

// querier is the pool, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// errAgain ends a transaction whose conditions no longer hold: it is tried from the start.
var errAgain = errors.New("somebody else was faster")

// change runs f in a transaction until it is neither too late nor in the way of another.
func (s *Store) change(ctx context.Context, f func(tx pgx.Tx) error) error {
	for {
		err := pgx.BeginFunc(ctx, s.pool, f)
		if !errors.Is(err, errAgain) && code(err) != serializationFailure && code(err) != deadlockDetected {
			return fault(err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// clean makes a text one that PostgreSQL takes.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
