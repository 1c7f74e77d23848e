package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/sessions"
)

// A sessionRow is a row of the table of sessions. It knows what the grants of
// the session add up to.
type sessionRow struct {
	session   sessions.Session
	body      []byte
	grantsSum []byte
}

func (r *sessionRow) check(id string, sum []byte) error {
	if err := checkRow(sum, "sessions", id, r.body, r.grantsSum); err != nil {
		return err
	}
	if err := json.Unmarshal(r.body, &r.session); err != nil || r.session.ID != id {
		return damage("session %q: it is kept as %q (%v)", id, r.session.ID, err)
	}
	return nil
}

// readSession returns a session that is alive as far as its row says, or
// [sql.ErrNoRows].
func readSession(ctx context.Context, q querier, id string) (r sessionRow, err error) {
	var sum []byte
	row := q.QueryRowContext(ctx, "SELECT body, grants_sum, sum FROM sessions WHERE id = ?", id)
	err = row.Scan(&r.body, &r.grantsSum, &sum)
	if err == nil {
		err = r.check(id, sum)
	}
	return r, err
}

func (t *txn) writeSession(r sessionRow) (err error) {
	if r.body, err = json.Marshal(r.session); err != nil {
		return err
	}
	id := r.session.ID
	return t.exec("INSERT OR REPLACE INTO sessions (id, body, grants_sum, sum) VALUES (?, ?, ?, ?)",
		id, r.body, r.grantsSum, sumOf("sessions", id, r.body, r.grantsSum))
}

// BeginSession implements [sessions.Store].
func (s *Store) BeginSession(ctx context.Context, session sessions.Session) error {
	if session.ID == "" {
		return fmt.Errorf("%w: it has no id", sessions.ErrNoSession)
	}
	return s.change(ctx, func(t *txn) error {
		t.head.grants++
		old, err := readSession(t.ctx, t.conn, session.ID)
		if err == nil && s.stale(old.session, t.now) {
			if err := t.endSession(session.ID); err != nil {
				return err
			}
			err = sql.ErrNoRows
		}
		switch {
		case errors.Is(err, sql.ErrNoRows):
			if err := t.noGrants(session.ID); err != nil {
				return err
			}
			session.Begun = t.now
			old.grantsSum = sumGrants(nil)
		case err != nil:
			return err
		default:
			session.Begun, session.Kind = old.session.Begun, old.session.Kind
		}
		session.Seen = t.now
		old.session = session
		return t.writeSession(old)
	})
}

// noGrants makes sure that a session which is not there left nothing behind.
func (t *txn) noGrants(session string) error {
	var n int
	err := t.row("SELECT count(*) FROM grants WHERE session = ?", session).Scan(&n)
	if err == nil && n > 0 {
		err = damage("session %q is missing and has %d grants", session, n)
	}
	return err
}

func (s *Store) stale(session sessions.Session, now time.Time) bool {
	return session.Stale(now, s.opt.Alive)
}

// EndSession implements [sessions.Store].
func (s *Store) EndSession(ctx context.Context, id string) error {
	return s.change(ctx, func(t *txn) error {
		if _, err := readSession(t.ctx, t.conn, id); err != nil {
			return noSession(id, err)
		}
		return t.endSession(id)
	})
}

func noSession(id string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("session %q: %w", id, sessions.ErrNoSession)
	}
	return err
}

// endSession removes a session with its grants, and dismisses what waits in it.
func (t *txn) endSession(id string) error {
	t.head.grants++
	t.lasting() // a grant that has ended stays so
	if err := t.exec("DELETE FROM grants WHERE session = ?", id); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM sessions WHERE id = ?", id); err != nil {
		return err
	}
	return t.dismiss("state = 'open' AND session = ?", id)
}

// dismiss ends the open requests for which a condition holds.
func (t *txn) dismiss(where string, args ...any) error {
	open, err := readRequests(t.ctx, t.conn, where, args...)
	if err != nil {
		return err
	}
	for i := range open {
		if err := t.become(&open[i], settled(approval.Settlement{State: policy.StateDismissed})); err != nil {
			return err
		}
	}
	return nil
}

// dismissOrphans ends the open requests of processes that are gone and would wait for the answer.
func (t *txn) dismissOrphans() error {
	open, err := readRequests(t.ctx, t.conn, "state = 'open'")
	if err != nil {
		return err
	}
	for i := range open {
		r, err := open[i].Request.Request()
		if err != nil {
			return err
		}
		if !t.s.orphan(r) {
			continue
		}
		if err := t.become(&open[i], settled(approval.Settlement{State: policy.StateDismissed})); err != nil {
			return err
		}
	}
	return nil
}

// Sessions implements [sessions.Store].
func (s *Store) Sessions(ctx context.Context) (out []sessions.Session, err error) {
	err = s.read(ctx, func(q querier) error {
		out, err = readSessions(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	h, err := s.now(ctx)
	now := s.latest(h)
	return slices.DeleteFunc(out, func(session sessions.Session) bool { return s.stale(session, now) }), err
}

func readSessions(ctx context.Context, q querier) ([]sessions.Session, error) {
	out, err := collect(ctx, q, func(session *sessions.Session, scan scanner) error {
		var id string
		var r sessionRow
		var sum []byte
		if err := scan(&id, &r.body, &r.grantsSum, &sum); err != nil {
			return err
		}
		err := r.check(id, sum)
		*session = r.session
		return err
	}, "SELECT id, body, grants_sum, sum FROM sessions")
	slices.SortFunc(out, func(a, b sessions.Session) int { return a.Begun.Compare(b.Begun) })
	return out, err
}

// CleanSessions implements [sessions.Store].
func (s *Store) CleanSessions(ctx context.Context) (ended []sessions.Session, err error) {
	err = s.change(ctx, func(t *txn) error {
		all, err := readSessions(t.ctx, t.conn)
		if err != nil {
			return err
		}
		for _, session := range all {
			if !s.stale(session, t.now) {
				continue
			}
			if err := t.endSession(session.ID); err != nil {
				return err
			}
			ended = append(ended, session)
		}
		if err := t.dismissOrphans(); err != nil {
			return err
		}
		// What was posted for a session that nobody began ends as if it were idle.
		return t.dismiss("state = 'open' AND created < ? AND session NOT IN (SELECT id FROM sessions)",
			kept.Nanoseconds(t.now.Add(-sessions.Idle)))
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

// touchEvery is how exactly it is known when a session was heard of last.
const touchEvery = time.Minute

// touched are the sessions that were just heard of, as long as no session or
// grant changes.
type touched struct {
	grants int64
	at     map[string]time.Time
}

// touch notes that something was heard of a session, if it is alive.
func (t *txn) touch(id string) error {
	known := &t.s.log.touched
	if known.grants != t.head.grants || known.at == nil {
		known.grants, known.at = t.head.grants, map[string]time.Time{}
	}
	if at, ok := known.at[id]; ok && t.now.Sub(at) < touchEvery {
		return nil
	}
	seen, err := t.touchRow(id)
	if err == nil && known.grants == t.head.grants {
		known.at[id] = seen
	}
	return err
}

// touchRow returns when a session was heard of, which is now if it is not alive.
func (t *txn) touchRow(id string) (time.Time, error) {
	r, err := readSession(t.ctx, t.conn, id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return t.now, nil
	case err != nil:
		return t.now, err
	case t.s.stale(r.session, t.now):
		return t.now, nil
	case t.now.Sub(r.session.Seen) < touchEvery:
		return r.session.Seen, nil
	}
	r.session.Seen = t.now
	t.head.grants++
	return t.now, t.writeSession(r)
}
