package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"time"

	"github.com/assent-dev/assent/store/kept"
)

// A txn is a change under way, alone in all processes. What it leaves in head is
// written with it.
type txn struct {
	ctx  context.Context
	conn *statements
	s    *Store
	head head
	now  time.Time // never before a time that the store has seen
}

func (t *txn) exec(query string, args ...any) error {
	_, err := t.conn.ExecContext(t.ctx, query, args...)
	return err
}

func (t *txn) row(query string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(t.ctx, query, args...)
}

// lasting marks a change that must never be lost, not even to a cut log.
func (t *txn) lasting() { t.head.generation++ }

// change runs f in a transaction. If f fails nothing is changed; otherwise the
// change is in the store, and on the disk if it is lasting, when change returns.
func (s *Store) change(ctx context.Context, f func(*txn) error) error {
	before, after, err := s.transact(ctx, f)
	if err != nil {
		return s.fault(err)
	}
	if err := s.secure(before, after); err != nil {
		return s.fault(err)
	}
	s.tell(after)
	return nil
}

// secure brings a change to the disk, at once if it is lasting.
func (s *Store) secure(before, after head) error {
	if after.generation == before.generation {
		return s.syncSoon()
	}
	if err := s.syncLog(); err != nil {
		return err
	}
	return s.unwritable(s.mark.raise(after.generation))
}

// unwritable says what can be done if one of the files beside the store cannot be
// written.
func (s *Store) unwritable(err error) error {
	if low := (*fs.PathError)(nil); errors.As(err, &low) {
		return &Error{Path: s.path, Kind: ErrUnwritable, Err: err, Do: makeWritable}
	}
	return err
}

// transact runs f and returns the head before and after.
func (s *Store) transact(ctx context.Context, f func(*txn) error) (before, after head, err error) {
	t := &txn{ctx: context.WithoutCancel(ctx), conn: s.writer, s: s}
	var n uint64
	err = s.alone(ctx, func() error {
		give, err := s.lock.take()
		if err != nil {
			return s.held(err)
		}
		defer give()
		err = t.do(f, &before)
		n = s.lock.count
		return err
	})
	if err == nil {
		s.cache.wrote(n, t.head)
	}
	return before, t.head, err
}

// do runs f and commits what it did.
func (t *txn) do(f func(*txn) error, before *head) error {
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := t.run(f, before)
	if err == nil {
		err = t.s.lock.writing(&t.head, func() error { return t.exec("COMMIT") })
	}
	if err != nil {
		_ = t.exec("ROLLBACK") // after a full disk SQLite may have done so itself
		return t.s.unwritable(err)
	}
	t.s.written = writtenHead{t.s.lock.count, t.head}
	t.s.disk.written.Add(1)
	return nil
}

// A writtenHead is the head as this process wrote it last, at a count.
type writtenHead struct {
	at   uint64
	head head
}

// alone runs f when nobody else in this process writes.
func (s *Store) alone(ctx context.Context, f func() error) error {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return late(ctx)
	}
	if s.closed.Load() {
		return &Error{Path: s.path, Err: ErrClosed}
	}
	if ctx.Err() != nil {
		return late(ctx)
	}
	return f()
}

func (t *txn) run(f func(*txn) error, before *head) (err error) {
	if t.head, err = t.startingHead(); err != nil {
		return err
	}
	*before = t.head
	t.now = t.s.latest(t.head)
	t.head.clock = max(t.head.clock, kept.Nanoseconds(t.now))
	if err := f(t); err != nil {
		return err
	}
	return t.exec(updateHead, t.head.row()...)
}

// startingHead returns the head as it is. If nobody has written since this process
// did, that is what it wrote.
func (t *txn) startingHead() (head, error) {
	if last := t.s.written; last.at != 0 && last.at%2 == 0 && last.at == t.s.lock.count {
		return last.head, nil
	}
	return t.s.currentHead(t.ctx, t.conn)
}

// currentHead reads the head, and says it if a newer program has changed the
// store under us.
func (s *Store) currentHead(ctx context.Context, q querier) (head, error) {
	h, err := readHead(ctx, q, s.schema.version())
	if newer := (*newerError)(nil); errors.As(err, &newer) {
		err = s.newer(err)
	}
	return h, err
}

// latest returns the time, or the latest that the store has seen if the clock
// was put back since: what has expired stays so.
func (s *Store) latest(h head) time.Time {
	now := s.opt.Clock()
	if seen := kept.FromNano(h.clock); now.Before(seen) {
		return seen
	}
	return now
}

// read runs f in a transaction that sees one state of the store, on a connection
// of its own.
func (s *Store) read(ctx context.Context, f func(querier) error) error {
	if s.closed.Load() {
		return &Error{Path: s.path, Err: ErrClosed}
	}
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err == nil {
		defer tx.Rollback()
		err = f(tx)
	}
	if err != nil && ctx.Err() != nil {
		return late(ctx)
	}
	return s.fault(err)
}

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
