package store

import (
	"context"
	"errors"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store/kept"
)

// A headCache knows the head as it is now, at the cost of a microsecond or two when
// nothing has changed.
type headCache struct {
	mu      sync.Mutex
	conn    *statements
	count   commitCount
	at      uint64 // the count when head was read
	believe bool   // whether the count could be believed then
	version int64  // what SQLite called the data when head was read
	head    head
}

// now returns the head as it is now, whoever changed it.
func (s *Store) now(ctx context.Context) (head, error) {
	p := &s.cache
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.closed.Load() {
		return head{}, &Error{Path: s.path, Err: ErrClosed}
	}
	n, believe := p.count.now()
	if believe && p.believe && n == p.at {
		return p.head, nil
	}
	err := s.peekLocked(ctx, func(ctx context.Context, c *statements) error { return p.read(ctx, s, c) })
	if err != nil {
		return head{}, err
	}
	p.at, p.believe = n, believe // it was read first: a change in between is seen the next time
	return p.head, nil
}

// wrote takes over the head that this process has just written.
func (p *headCache) wrote(n uint64, h head) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.believe && n > p.at && n%2 == 0 {
		p.at, p.head, p.version = n, h, unknownVersion
	}
}

// unknownVersion is one that SQLite never says.
const unknownVersion = -1

// peek runs f on the connection of the cache, for what is small and often read.
func (s *Store) peek(ctx context.Context, f func(context.Context, *statements) error) error {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.closed.Load() {
		return &Error{Path: s.path, Err: ErrClosed}
	}
	return s.peekLocked(ctx, f)
}

func (s *Store) peekLocked(ctx context.Context, f func(context.Context, *statements) error) error {
	ctx = context.WithoutCancel(ctx)
	if s.opt.Brief { // the only connection
		return s.alone(ctx, func() error { return s.fault(f(ctx, s.writer)) })
	}
	if p := &s.cache; p.conn == nil {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return s.fault(err)
		}
		p.conn, p.version = newStatements(conn), unknownVersion
	}
	return s.fault(f(ctx, s.cache.conn))
}

// snapshot is peek for several queries that must see one state of the store.
func (s *Store) snapshot(ctx context.Context, f func(context.Context, querier, head) error) error {
	return s.peek(ctx, func(ctx context.Context, c *statements) error {
		if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		defer c.ExecContext(ctx, "ROLLBACK") // nothing was written
		h, err := s.currentHead(ctx, c)
		if err != nil {
			return err
		}
		return f(ctx, c, h)
	})
}

// read reads the head again if SQLite says that another connection has written. About
// the only one that a brief process has it could not say so.
func (p *headCache) read(ctx context.Context, s *Store, c *statements) error {
	version := int64(unknownVersion)
	if !s.opt.Brief {
		if err := c.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
			return err
		}
		if version == p.version {
			return nil
		}
	}
	h, err := s.currentHead(ctx, c)
	if err != nil {
		return err
	}
	p.version, p.head = version, h
	return nil
}

func (p *headCache) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.count.file.close()
	if p.conn != nil {
		err = errors.Join(err, p.conn.close())
	}
	return err
}

// A cached value was read when a counter of the head had a value.
type cached[T any] struct {
	value T
	at    int64
	known bool
}

func (c cached[T]) fresh(counter int64) bool { return c.known && c.at == counter }

// Remembered implements [approval.MemoryStore]: whether anything has changed is looked up
// once for all of it.
func (s *Store) Remembered(ctx context.Context, session string) (r approval.Remembered, err error) {
	h, err := s.now(ctx)
	if err != nil {
		return r, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	off, err := s.preferenceAt(ctx, kept.ApprovalsOff, h)
	if err != nil {
		return r, err
	}
	if r.Rules, err = s.rulesAt(ctx, h); err != nil {
		return r, err
	}
	r.Off = off == kept.Yes
	r.Grants, err = s.grantsAt(ctx, session, h)
	return r, err
}
