package postgres

import (
	"context"
	"sync"
	"time"
)

// A clock tells the database's time without asking for it each time: how far this machine's clock is from it was
// measured with one of the last queries. What has expired is decided by the database itself.
type clock struct {
	fixed func() time.Time // in its place, if not nil

	mu     sync.Mutex
	offset time.Duration
}

// now is the database's time.
func (c *clock) now() time.Time {
	if c.fixed != nil {
		return c.fixed()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset).UTC()
}

// observe notes what the database said its time was between before and now.
func (c *clock) observe(database, before time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = database.Sub(before.Add(time.Since(before) / 2))
}

// argument is the $1 of a query that says now: NULL for the database's own clock.
func (c *clock) argument() any {
	if c.fixed == nil {
		return nil
	}
	return c.fixed()
}

// now stands in queries for the time. Their $1 is [clock.argument].
const now = "coalesce($1::timestamptz, now())"

func (s *Store) observeClock(ctx context.Context) error {
	before := time.Now()
	var database time.Time
	if err := s.pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&database); err != nil {
		return fault(err)
	}
	s.clock.observe(database, before)
	return nil
}
