package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// A pulse knows the head as it is now, at the cost of a few microseconds when
// nothing has changed: SQLite tells a connection whether another one has written.
type pulse struct {
	mu      sync.Mutex
	conn    *sql.Conn
	stmt    *sql.Stmt
	version int64 // of the data when head was read
	head    head
}

// now returns the head as it is now, whoever changed it.
func (s *Store) now(ctx context.Context) (h head, err error) {
	err = s.peek(ctx, func(ctx context.Context, _ querier) error {
		h, err = s.pulse.read(ctx, s)
		return err
	})
	return h, err
}

// peek runs f on the connection of the pulse, for what is small and often read.
func (s *Store) peek(ctx context.Context, f func(context.Context, querier) error) error {
	p := &s.pulse
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.closed.Load() {
		return &Error{Path: s.path, Err: ErrClosed}
	}
	ctx = context.WithoutCancel(ctx)
	if p.stmt == nil {
		if err := p.connect(ctx, s.db); err != nil {
			return s.fault(err)
		}
	}
	return s.fault(f(ctx, p.conn))
}

// snapshot is peek for several queries that must see one state of the store.
func (s *Store) snapshot(ctx context.Context, f func(context.Context, querier, head) error) error {
	return s.peek(ctx, func(ctx context.Context, q querier) error {
		tx, err := s.pulse.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		h, err := s.currentHead(ctx, tx)
		if err != nil {
			return err
		}
		return f(ctx, tx, h)
	})
}

func (p *pulse) read(ctx context.Context, s *Store) (h head, err error) {
	var version int64
	if err := p.stmt.QueryRowContext(ctx).Scan(&version); err != nil {
		return h, err
	}
	if version == p.version {
		return p.head, nil
	}
	// The version was read first: a change in between is seen the next time.
	if h, err = s.currentHead(ctx, p.conn); err != nil {
		return h, err
	}
	p.version, p.head = version, h
	return h, nil
}

func (p *pulse) connect(ctx context.Context, db *sql.DB) (err error) {
	if p.conn, err = db.Conn(ctx); err != nil {
		return err
	}
	p.version = -1 // which SQLite never says
	p.stmt, err = p.conn.PrepareContext(ctx, "PRAGMA data_version")
	return err
}

func (p *pulse) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stmt == nil {
		return nil
	}
	return errors.Join(p.stmt.Close(), p.conn.Close())
}

// A cached value was read when a counter of the head had a value.
type cached[T any] struct {
	value T
	at    int64
	known bool
}

func (c cached[T]) fresh(counter int64) bool { return c.known && c.at == counter }
