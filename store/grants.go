package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/sessions"
)

// A grantRow is a row of the table of grants.
type grantRow struct {
	n     int64
	body  []byte
	grant policy.Grant
}

func (r *grantRow) sum() []byte { return sumOf("grants", r.n, r.grant.Session, r.body) }

// sumGrants is what a session's row keeps of its grants.
func sumGrants(rows []grantRow) []byte {
	return sumRows("all grants", rows, func(r *grantRow) []byte { return r.sum() })
}

// readGrants returns the grants of a session, which must add up to its sum.
func readGrants(ctx context.Context, q querier, session string, want []byte) ([]grantRow, error) {
	rows, err := collect(ctx, q, func(r *grantRow, scan scanner) error {
		if err := scan(&r.n, &r.body); err != nil {
			return err
		}
		if err := json.Unmarshal(r.body, &r.grant); err != nil || r.grant.Session != session {
			return damage("grant %d of session %q: it is of session %q (%v)", r.n, session, r.grant.Session, err)
		}
		return nil
	}, "SELECT n, body FROM grants WHERE session = ? ORDER BY n", session)
	if err == nil && string(sumGrants(rows)) != string(want) {
		err = damage("the grants of session %q are not those that were written", session)
	}
	return rows, err
}

// sessionGrants are the grants of a session that may go stale.
type sessionGrants struct {
	session sessions.Session
	set     *policy.GrantSet
}

// Grants implements [approval.GrantStore]. A session that has ended, gone stale
// or was never begun has none.
func (s *Store) Grants(ctx context.Context, session string) (*policy.GrantSet, error) {
	h, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grantsAt(ctx, session, h)
}

// grantsAt returns the grants as they are at a head or later. It wants the lock.
func (s *Store) grantsAt(ctx context.Context, session string, h head) (*policy.GrantSet, error) {
	if !s.grants[session].fresh(h.grants) {
		if err := s.loadGrants(ctx, session); err != nil {
			return nil, err
		}
	}
	g := s.grants[session].value
	if g.set == nil || s.stale(g.session, s.latest(h)) {
		return nil, nil
	}
	return s.unexpiredGrants(g.set, h), nil
}

func (s *Store) loadGrants(ctx context.Context, session string) error {
	return s.snapshot(ctx, func(ctx context.Context, q querier, h head) error {
		g := cached[sessionGrants]{at: h.grants, known: true}
		r, err := readSession(ctx, q, session)
		if errors.Is(err, sql.ErrNoRows) {
			r.grantsSum, err = sumGrants(nil), nil // and there must be none
		}
		if err != nil {
			return err
		}
		rows, err := readGrants(ctx, q, session, r.grantsSum)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			g.value = sessionGrants{r.session, policy.NewGrantSet(plainGrants(rows))}
		}
		s.forgetGrants(h.grants)
		s.grants[session] = g
		return nil
	})
}

// forgetGrants drops what was cached before the last change.
func (s *Store) forgetGrants(now int64) {
	for id, g := range s.grants {
		if g.at < now {
			delete(s.grants, id)
		}
	}
}

func plainGrants(rows []grantRow) []policy.Grant {
	out := make([]policy.Grant, len(rows))
	for i := range rows {
		out[i] = rows[i].grant
	}
	return out
}

// unexpiredGrants leaves out allows that have expired by a clock that was put
// back since. The gate looks at the others itself.
func (s *Store) unexpiredGrants(set *policy.GrantSet, h head) *policy.GrantSet {
	latest := kept.FromNano(h.clock)
	if !s.opt.Clock().Before(latest) {
		return set
	}
	return kept.UnexpiredGrants(set, latest)
}

// AddGrants implements [approval.GrantStore]. A grant without an id gets one; a
// session that is not alive is [sessions.ErrNoSession].
func (s *Store) AddGrants(ctx context.Context, grants ...policy.Grant) error {
	return s.change(ctx, func(t *txn) error {
		for _, g := range grants {
			if g.ID == "" {
				g.ID = rand.Text()
			}
			if err := t.changeGrants(g.Session, func(all []grantRow) ([]grantRow, error) {
				return append(all, grantRow{grant: g}), nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// changeGrants writes the grants that f makes of those of a session. Rows
// without a number are new; those that f leaves out are removed.
func (t *txn) changeGrants(session string, f func([]grantRow) ([]grantRow, error)) error {
	r, err := readSession(t.ctx, t.conn, session)
	if err == nil && t.s.stale(r.session, t.now) {
		err = sql.ErrNoRows
	}
	if err != nil {
		return noSession(session, err)
	}
	old, err := readGrants(t.ctx, t.conn, session, r.grantsSum)
	if err != nil {
		return err
	}
	rows, err := f(slices.Clone(old))
	if err != nil {
		return err
	}
	for _, gone := range old {
		if !slices.ContainsFunc(rows, func(r grantRow) bool { return r.n == gone.n }) {
			if err := t.exec("DELETE FROM grants WHERE n = ?", gone.n); err != nil {
				return err
			}
		}
	}
	for i := range rows {
		if rows[i].n == 0 {
			if err := t.insertGrant(&rows[i]); err != nil {
				return err
			}
		}
	}
	t.head.grants++
	t.lasting()
	r.session.Seen, r.grantsSum = t.now, sumGrants(rows)
	return t.writeSession(r)
}

func (t *txn) insertGrant(r *grantRow) (err error) {
	if r.body, err = json.Marshal(r.grant); err != nil {
		return fmt.Errorf("grant %q: %w", r.grant.ID, err)
	}
	if err := t.row("SELECT coalesce(max(n), 0) + 1 FROM grants").Scan(&r.n); err != nil {
		return err
	}
	return t.exec("INSERT INTO grants (n, session, body) VALUES (?, ?, ?)", r.n, r.grant.Session, r.body)
}

// RevokeGrant ends one grant. One that is not there is [policy.ErrGrantNotFound].
func (s *Store) RevokeGrant(ctx context.Context, session, id string) error {
	return s.change(ctx, func(t *txn) error {
		return t.changeGrants(session, func(all []grantRow) ([]grantRow, error) {
			left := slices.DeleteFunc(slices.Clone(all), func(r grantRow) bool { return r.grant.ID == id })
			if len(left) == len(all) {
				return nil, fmt.Errorf("grant %q in session %q: %w", id, session, policy.ErrGrantNotFound)
			}
			return left, nil
		})
	})
}

// ClearGrants ends all grants of a session. The session goes on.
func (s *Store) ClearGrants(ctx context.Context, session string) error {
	return s.change(ctx, func(t *txn) error {
		return t.changeGrants(session, func([]grantRow) ([]grantRow, error) { return nil, nil })
	})
}

// AllGrants returns the grants of every session that is alive.
func (s *Store) AllGrants(ctx context.Context) ([]policy.Grant, error) {
	live, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var out []policy.Grant
	for _, session := range live {
		set, err := s.Grants(ctx, session.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, set.Grants()...)
	}
	return out, nil
}
