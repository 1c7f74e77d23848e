package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// approvalsOff is the name of the preference that turns asking off. What is not
// there is safe: approvals are on.
const approvalsOff = "approvals.off"

// Approvals reports whether the master switch is on. With an error it is.
func (s *Store) Approvals(ctx context.Context) (on bool, err error) {
	value, err := s.Preference(ctx, approvalsOff)
	return err != nil || value != "yes", err
}

// SetApprovals turns the master switch on or off.
func (s *Store) SetApprovals(ctx context.Context, on bool) error {
	if on {
		return s.SetPreference(ctx, approvalsOff, "")
	}
	return s.SetPreference(ctx, approvalsOff, "yes")
}

// Preference returns what was set, or "". A row that was lost reads as "", so a
// preference must be safe without a value.
func (s *Store) Preference(ctx context.Context, name string) (value string, err error) {
	err = s.peek(ctx, func(ctx context.Context, q querier) error {
		var sum []byte
		err := q.QueryRowContext(ctx, "SELECT value, sum FROM preferences WHERE name = ?", name).Scan(&value, &sum)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			err = checkRow(sum, "preferences", name, value)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

// SetPreference sets a value; "" takes it away.
func (s *Store) SetPreference(ctx context.Context, name, value string) error {
	return s.change(ctx, func(t *txn) error {
		t.head.policy++
		t.lasting()
		if value == "" {
			return t.exec("DELETE FROM preferences WHERE name = ?", name)
		}
		return t.exec("INSERT OR REPLACE INTO preferences (name, value, sum) VALUES (?, ?, ?)",
			name, value, sumOf("preferences", name, value))
	})
}

// ClockBehind returns how far the clock is behind the latest time that the store
// has seen; 0 if it is not. As long as it is, what was allowed for a time and
// would have ended by then is not allowed.
func (s *Store) ClockBehind(ctx context.Context) (time.Duration, error) {
	h, err := s.now(ctx)
	return max(0, fromNano(h.clock).Sub(s.opt.Clock())), err
}

// ResetClock makes the store believe the clock again, after it was wrong for a
// while. What has expired meanwhile may hold again.
func (s *Store) ResetClock(ctx context.Context) error {
	return s.change(ctx, func(t *txn) error {
		t.head.clock = nanoseconds(s.opt.Clock())
		t.head.policy++
		t.head.grants++
		t.lasting()
		return nil
	})
}
