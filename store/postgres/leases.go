package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// leases keep processes alive: those that a session of ours belongs to, or that wait for a request of ours. Of a process on
// another machine nothing else can be known. Whoever goes away, or cannot reach the database, is gone when the lease ends.
type leases struct {
	s    *Store
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	held    map[string]bool
	renewed bool // somebody renews them
}

func (l *leases) init(s *Store) {
	l.s, l.held = s, map[string]bool{}
	l.ctx, l.stop = context.WithCancel(context.Background())
}

// hold keeps a process alive from now on.
func (l *leases) hold(ctx context.Context, process string) error {
	l.mu.Lock()
	held := l.held[process]
	l.mu.Unlock()
	if process == "" || held {
		return nil
	}
	if err := l.take(ctx, l.s.pool, process); err != nil {
		return err
	}
	l.keep(process)
	return nil
}

// take writes the lease of a process.
func (l *leases) take(ctx context.Context, q querier, process string) error {
	_, err := q.Exec(ctx, `INSERT INTO store_leases (process, until) VALUES ($2, `+now+` + $3::interval)
		ON CONFLICT (process) DO UPDATE SET until = excluded.until`, l.s.clock.argument(), process, l.s.opt.Lease)
	return fault(err)
}

// keep renews a lease that was taken, as long as the store is open.
func (l *leases) keep(process string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[process] = true
	if !l.renewed && l.ctx.Err() == nil {
		l.renewed = true
		l.work.Go(l.renew)
	}
}

// renew renews the leases well before they end.
func (l *leases) renew() {
	for wait(l.ctx, l.s.opt.Lease/3) {
		l.mu.Lock()
		held := slices.Collect(maps.Keys(l.held))
		l.mu.Unlock()
		rows, err := l.s.pool.Query(l.ctx, `UPDATE store_leases SET until = `+now+` + $3::interval WHERE process = ANY($2) RETURNING process`,
			l.s.clock.argument(), held, l.s.opt.Lease)
		if err != nil {
			continue // the next time is soon enough, or the lease ends
		}
		left, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			continue
		}
		l.mu.Lock()
		for _, process := range held {
			if !slices.Contains(left, process) {
				delete(l.held, process) // it had ended and was cleaned up: whoever goes on takes a new one
			}
		}
		l.mu.Unlock()
	}
}

// close gives up the lease of this process.
func (l *leases) close() error {
	l.mu.Lock()
	l.stop()
	held := len(l.held) > 0
	l.mu.Unlock()
	l.work.Wait()
	if !held {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := l.s.pool.Exec(ctx, "DELETE FROM store_leases WHERE process = $1", processKey(l.s.owner))
	return fault(err)
}
