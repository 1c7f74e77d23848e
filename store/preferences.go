package store

import (
	"context"
	"strings"
	"time"

	"github.com/assent-dev/assent/store/kept"
)

// Approvals implements [approval.Switch]. With an error it is on.
func (s *Store) Approvals(ctx context.Context) (on bool, err error) {
	value, err := s.Preference(ctx, kept.ApprovalsOff)
	return err != nil || value != kept.Yes, err
}

// SetApprovals turns the master switch on or off.
func (s *Store) SetApprovals(ctx context.Context, on bool) error {
	if on {
		return s.SetPreference(ctx, kept.ApprovalsOff, "")
	}
	return s.SetPreference(ctx, kept.ApprovalsOff, kept.Yes)
}

// A preference is a row of the table of preferences.
type preference struct{ name, value string }

func (p preference) sum() []byte { return sumOf("preferences", p.name, p.value) }

// sumPreferences is what the head keeps of all preferences.
func sumPreferences(all []preference) []byte {
	return sumRows("all preferences", all, func(p *preference) []byte { return p.sum() })
}

func readPreferences(ctx context.Context, q querier) ([]preference, error) {
	return collect(ctx, q, func(p *preference, scan scanner) error { return scan(&p.name, &p.value) },
		"SELECT name, value FROM preferences ORDER BY name")
}

// checkPreferences reads them, and compares them with what the head keeps.
func checkPreferences(ctx context.Context, q querier, h head) ([]preference, error) {
	all, err := readPreferences(ctx, q)
	if err == nil && string(sumPreferences(all)) != string(h.prefsSum) {
		err = damage("its preferences were changed outside of assent")
	}
	return all, err
}

// Preference returns what was set, or "".
func (s *Store) Preference(ctx context.Context, name string) (string, error) {
	h, err := s.now(ctx)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.preferenceAt(ctx, name, h)
}

// Preferences returns all whose name begins so.
func (s *Store) Preferences(ctx context.Context, prefix string) (map[string]string, error) {
	h, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.preferenceAt(ctx, "", h); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, value := range s.preferences.value {
		if strings.HasPrefix(name, prefix) {
			out[name] = value
		}
	}
	return out, nil
}

// preferenceAt returns a preference as it is at a head or later. It wants the lock.
func (s *Store) preferenceAt(ctx context.Context, name string, h head) (string, error) {
	if !s.preferences.fresh(h.policy) {
		if err := s.loadPreferences(ctx); err != nil {
			return "", err
		}
	}
	return s.preferences.value[name], nil
}

func (s *Store) loadPreferences(ctx context.Context) error {
	return s.snapshot(ctx, func(ctx context.Context, q querier, h head) error {
		all, err := checkPreferences(ctx, q, h)
		if err != nil {
			return err
		}
		values := make(map[string]string, len(all))
		for _, p := range all {
			values[p.name] = p.value
		}
		s.preferences = cached[map[string]string]{values, h.policy, true}
		return nil
	})
}

// SetPreference sets a value; "" takes it away.
func (s *Store) SetPreference(ctx context.Context, name, value string) error {
	return s.change(ctx, func(t *txn) error {
		if _, err := checkPreferences(t.ctx, t.conn, t.head); err != nil {
			return err
		}
		if err := t.exec("DELETE FROM preferences WHERE name = ?", name); err != nil {
			return err
		}
		if value != "" {
			if err := t.exec("INSERT INTO preferences (name, value) VALUES (?, ?)", name, value); err != nil {
				return err
			}
		}
		all, err := readPreferences(t.ctx, t.conn)
		t.head.prefsSum = sumPreferences(all)
		t.head.policy++
		t.lasting()
		return err
	})
}

// ClockBehind returns how far the clock is behind the latest time that the store
// has seen; 0 if it is not. As long as it is, what was allowed for a time and
// would have ended by then is not allowed.
func (s *Store) ClockBehind(ctx context.Context) (time.Duration, error) {
	h, err := s.now(ctx)
	return max(0, kept.FromNano(h.clock).Sub(s.opt.Clock())), err
}

// ResetClock makes the store believe the clock again, after it was wrong for a
// while. What has expired meanwhile may hold again.
func (s *Store) ResetClock(ctx context.Context) error {
	return s.change(ctx, func(t *txn) error {
		t.head.clock = kept.Nanoseconds(s.opt.Clock())
		t.head.policy++
		t.head.grants++
		t.lasting()
		return nil
	})
}
