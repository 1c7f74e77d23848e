package store

import (
	"context"
	"sync"
)

// A pulse knows the head as it is now, at the cost of a few microseconds when
// nothing has changed: SQLite tells a connection whether another one has written.
type pulse struct {
	mu      sync.Mutex
	conn    *statements
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
	if p.conn == nil {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return s.fault(err)
		}
		p.conn, p.version = newStatements(conn), -1 // which SQLite never says
	}
	return s.fault(f(ctx, p.conn))
}

// snapshot is peek for several queries that must see one state of the store.
func (s *Store) snapshot(ctx context.Context, f func(context.Context, querier, head) error) error {
	return s.peek(ctx, func(ctx context.Context, q querier) error {
		if _, err := s.pulse.conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		defer s.pulse.conn.ExecContext(ctx, "ROLLBACK") // nothing was written
		h, err := s.currentHead(ctx, q)
		if err != nil {
			return err
		}
		return f(ctx, q, h)
	})
}

func (p *pulse) read(ctx context.Context, s *Store) (h head, err error) {
	var version int64
	if err := p.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
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

func (p *pulse) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return nil
	}
	return p.conn.close()
}

// A cached value was read when a counter of the head had a value.
type cached[T any] struct {
	value T
	at    int64
	known bool
}

func (c cached[T]) fresh(counter int64) bool { return c.known && c.at == counter }
