package store

import (
	"context"
	"database/sql"
	"errors"
)

// maxStatements is more than there are of ours, but for those with lists.
const maxStatements = 100

// statements is a connection that prepares each statement once. It is used by one
// at a time.
type statements struct {
	conn  *sql.Conn
	known map[string]*sql.Stmt
}

func newStatements(conn *sql.Conn) *statements {
	return &statements{conn: conn, known: map[string]*sql.Stmt{}}
}

// prepare returns a statement, or nil for one that is not kept.
func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	stmt, err := s.known[query], error(nil)
	if stmt == nil && len(s.known) < maxStatements {
		if stmt, err = s.conn.PrepareContext(ctx, query); err == nil {
			s.known[query] = stmt
		}
	}
	return stmt, err
}

func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return s.conn.ExecContext(ctx, query, args...)
	}
	return stmt.ExecContext(ctx, args...)
}

func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return s.conn.QueryContext(ctx, query, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

func (s *statements) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := s.prepare(ctx, query)
	if err != nil || stmt == nil {
		return s.conn.QueryRowContext(ctx, query, args...) // which meets the error too
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.known {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, s.conn.Close())...)
}
