package store

import (
	"context"
	"fmt"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/store/kept"
)

// A Retention says how long records are kept. What is zero does not limit.
type Retention struct {
	Age   time.Duration
	Bytes int64 // of the whole store
	// Sent is the number of the last record that another keeper of the log has acknowledged: those after it stay,
	// whatever their age. Nil if nobody else keeps the log.
	Sent *int64
}

// pruneChunk is how many records are removed in one transaction: others are to
// write in between.
const pruneChunk = 20000

// Retain removes the records, the requests that ended with them and the claims on
// calls of runs that are gone, if they are too old or too many, the oldest first,
// and returns how many records it removed. What is left can be verified: the log
// notes where it now begins. If ctx ends, the next Retain goes on.
func (s *Store) Retain(ctx context.Context, keep Retention) (removed int64, err error) {
	if err := s.pruneClaims(ctx, keep.Age); err != nil {
		return 0, err
	}
	for {
		through, err := s.pruneThrough(ctx, keep)
		if err != nil || through == 0 {
			return removed, err
		}
		n, err := s.prune(ctx, through, keep)
		removed += n
		if err != nil || n < pruneChunk { // that was all, or what can be done about the size
			return removed, err
		}
	}
}

// pruneThrough returns the number of the last record to remove next; 0 for none.
func (s *Store) pruneThrough(ctx context.Context, keep Retention) (through int64, err error) {
	err = s.read(ctx, func(q querier) error {
		h, err := s.currentHead(ctx, q)
		if err != nil {
			return err
		}
		if keep.Age > 0 {
			if through, err = oldThrough(ctx, q, h, kept.Nanoseconds(s.latest(h).Add(-keep.Age))); err != nil {
				return err
			}
		}
		if keep.Bytes > 0 {
			n, err := largeThrough(ctx, q, h, keep.Bytes)
			if err != nil {
				return err
			}
			through = max(through, n)
		}
		through = min(through, h.anchorSeq+pruneChunk, h.seq)
		if keep.Sent != nil {
			through = min(through, *keep.Sent)
		}
		if through <= h.anchorSeq {
			through = 0
		}
		return nil
	})
	return through, err
}

// oldThrough returns the number before the first record that is not too old, of
// those that may be removed next. The log's own notes do not count: they are
// always new.
func oldThrough(ctx context.Context, q querier, h head, cutoff int64) (through int64, err error) {
	last := min(h.anchorSeq+pruneChunk, h.seq)
	err = q.QueryRowContext(ctx, "SELECT coalesce((SELECT seq FROM events WHERE seq > ? AND seq <= ? AND +at >= ?"+
		" ORDER BY seq LIMIT 1), ? + 1) - 1",
		h.anchorSeq, last, cutoff, last).Scan(&through)
	return through, err
}

// largeThrough estimates how many of the oldest records make the store too large.
func largeThrough(ctx context.Context, q querier, h head, limit int64) (int64, error) {
	var pages, free, size int64
	for pragma, n := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
		if err := q.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(n); err != nil {
			return 0, err
		}
	}
	used, records := (pages-free)*size, h.seq-h.anchorSeq
	if used <= limit || records <= 1 {
		return 0, nil
	}
	over := (used-limit)*records/used + 1
	return h.anchorSeq + min(over, records-1), nil
}

// prune removes the records up to a number, notes it in the log, and gives the
// room back to the system.
func (s *Store) prune(ctx context.Context, through int64, keep Retention) (removed int64, err error) {
	err = s.change(ctx, func(t *txn) error {
		if through <= t.head.anchorSeq {
			return nil // another process was faster
		}
		var hash []byte
		if err := t.row("SELECT hash FROM events WHERE seq = ?", through).Scan(&hash); err != nil {
			return fmt.Errorf("record %d: %w", through, err)
		}
		removed = through - t.head.anchorSeq
		t.head.anchorSeq, t.head.anchorHash = through, hash
		for _, delete := range []string{"DELETE FROM events WHERE seq <= ?", "DELETE FROM running WHERE seq <= ?"} {
			if err := t.exec(delete, through); err != nil {
				return err
			}
		}
		if err := t.pruneRequests(keep.Age); err != nil {
			return err
		}
		note, err := kept.NewRecord(approval.Event{
			Kind: approval.EventPruned, At: t.now, Basis: audit.NewSeal(through, hash).String(),
			Why: fmt.Sprintf("%d records up to number %d were removed, because of their age or number", removed, through),
		})
		if err != nil {
			return err
		}
		return t.appendEvent(note)
	})
	if err != nil || removed == 0 {
		return 0, err
	}
	return removed, s.shrink(ctx)
}

// pruneRequests removes what ended before the age.
func (t *txn) pruneRequests(age time.Duration) error {
	if age == 0 {
		return nil
	}
	const old = "state = 'settled' AND created < ?"
	cutoff := kept.Nanoseconds(t.now.Add(-age))
	if err := t.exec("DELETE FROM decisions WHERE request IN (SELECT id FROM requests WHERE "+old+")", cutoff); err != nil {
		return err
	}
	return t.exec("DELETE FROM requests WHERE "+old, cutoff)
}

// shrink gives free pages back. The statement works as its rows are read.
func (s *Store) shrink(ctx context.Context) error {
	return s.fault(s.alone(ctx, func() error {
		rows, err := s.writer.QueryContext(context.WithoutCancel(ctx), "PRAGMA incremental_vacuum")
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return rows.Close()
	}))
}
