package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/sessions"
)

// idle is [sessions.Idle], and gone whether the lease of a session's owner has ended.
var _ = [1]struct{}{}[sessions.Idle-8*time.Hour] // the interval below is the same

const (
	idle = "interval '8 hours'"
	gone = "(l.until IS NULL OR l.until <= " + now + ")"
	// stale says of a session s with the lease l of its owner what [sessions.Session.Stale] does.
	stale = "CASE WHEN s.kind IN ('hook', 'gateway') THEN s.seen < " + now + " - " + idle + " OR (s.owner <> '' AND " + gone + ")" +
		" ELSE NOT s.kept AND " + gone + " END"
	fromSessions = " FROM store_sessions s LEFT JOIN store_leases l ON l.process = s.owner"
)

// A sessionRow is a row of the table of sessions. Whoever changes it must know its version.
type sessionRow struct {
	session sessions.Session
	grants  []byte
	version int64
	stale   bool
}

func scanSession(row pgx.CollectableRow) (*sessionRow, error) {
	r := new(sessionRow)
	var owner string
	s := &r.session
	if err := row.Scan(&s.ID, &s.Kind, &owner, &s.Folder, &s.Kept, &s.Begun, &s.Seen, &r.grants, &r.version, &r.stale); err != nil {
		return nil, err
	}
	s.Begun, s.Seen = s.Begun.UTC(), s.Seen.UTC()
	var err error
	if s.Owner, err = processOf(owner); err != nil {
		return nil, fmt.Errorf("session %q: %w", s.ID, err)
	}
	return r, nil
}

const selectSessions = "SELECT s.id, s.kind, s.owner, s.folder, s.kept, s.begun, s.seen, s.grants, s.version, " + stale + fromSessions

// readSession returns a session, stale or not; nil if there is none.
func (s *Store) readSession(ctx context.Context, q querier, id string) (*sessionRow, error) {
	rows, err := q.Query(ctx, selectSessions+" WHERE s.id = $2", s.clock.argument(), id)
	if err != nil {
		return nil, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanSession)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return r, err
}

func noSession(id string) error { return fmt.Errorf("session %q: %w", id, sessions.ErrNoSession) }

// BeginSession implements [sessions.Store].
func (s *Store) BeginSession(ctx context.Context, session sessions.Session) error {
	if session.ID == "" {
		return fmt.Errorf("%w: it has no id", sessions.ErrNoSession)
	}
	var changes changes
	err := s.change(ctx, func(tx pgx.Tx) error {
		changes.reset()
		old, err := s.readSession(ctx, tx, session.ID)
		if err != nil {
			return err
		}
		if old != nil && old.stale {
			if err := s.endSession(ctx, tx, old, &changes); err != nil {
				return err
			}
			old = nil
		}
		if session.Owner != (sessions.Process{}) {
			if err := s.leases.take(ctx, tx, processKey(session.Owner)); err != nil {
				return err
			}
		}
		if old == nil {
			return s.insertSession(ctx, tx, session, &changes)
		}
		return changes.one(tx.QueryRow(ctx, `UPDATE store_sessions SET owner = $4, folder = $5, kept = $6, seen = `+now+`,
			version = nextval('store_memory_changes') WHERE id = $2 AND version = $3 RETURNING version`,
			s.clock.argument(), session.ID, old.version, processKey(session.Owner), session.Folder, session.Kept))
	})
	if err != nil {
		return err
	}
	if session.Owner != (sessions.Process{}) {
		s.leases.keep(processKey(session.Owner))
	}
	changes.tell(s)
	return nil
}

func (s *Store) insertSession(ctx context.Context, tx pgx.Tx, session sessions.Session, changes *changes) error {
	return changes.one(tx.QueryRow(ctx, `INSERT INTO store_sessions (id, kind, owner, folder, kept, begun, seen, grants, version)
		VALUES ($2, $3, $4, $5, $6, `+now+`, `+now+`, '[]', nextval('store_memory_changes')) ON CONFLICT (id) DO NOTHING RETURNING version`,
		s.clock.argument(), session.ID, session.Kind, processKey(session.Owner), session.Folder, session.Kept))
}

// changes are what a transaction changed, to be told when it is committed.
type changes struct {
	memory, requests int64
	ids              []string
}

func (c *changes) reset() { *c = changes{} }

// one scans the version of the one row that a statement should have written; without one the transaction is too late.
func (c *changes) one(row pgx.Row) error {
	err := row.Scan(&c.memory)
	if errors.Is(err, pgx.ErrNoRows) {
		return errAgain
	}
	return err
}

func (c *changes) tell(s *Store) {
	if c.memory != 0 {
		s.hub.memoryChanged(c.memory)
	}
	s.hub.requestsChanged(c.requests, c.ids...)
}

// EndSession implements [sessions.Store].
func (s *Store) EndSession(ctx context.Context, id string) error {
	var changes changes
	err := s.change(ctx, func(tx pgx.Tx) error {
		changes.reset()
		r, err := s.readSession(ctx, tx, id)
		if err != nil {
			return err
		}
		if r == nil {
			return noSession(id)
		}
		return s.endSession(ctx, tx, r, &changes)
	})
	if err == nil {
		changes.tell(s)
	}
	return err
}

// endSession removes a session with its grants, and dismisses what waits in it.
func (s *Store) endSession(ctx context.Context, tx pgx.Tx, r *sessionRow, changes *changes) error {
	err := changes.one(tx.QueryRow(ctx, `DELETE FROM store_sessions WHERE id = $1 AND version = $2 RETURNING nextval('store_memory_changes')`,
		r.session.ID, r.version))
	if err != nil {
		return err
	}
	return s.dismiss(ctx, tx, changes, "SELECT id FROM store_requests WHERE state = 'open' AND session = $1 ORDER BY n", r.session.ID)
}

// dismiss ends the open requests whose ids a query returns.
func (s *Store) dismiss(ctx context.Context, tx pgx.Tx, changes *changes, query string, args ...any) error {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, id := range ids {
		version, err := s.changeRequest(ctx, tx, id, func(r *kept.Request) (bool, error) {
			if r.State != kept.StateOpen {
				return false, nil // it has just been answered
			}
			return r.Settle(approval.Settlement{State: policy.StateDismissed}, s.opt.Detail, s.clock.now())
		})
		if err != nil {
			return err
		}
		if version != 0 {
			changes.requests, changes.ids = max(changes.requests, version), append(changes.ids, id)
		}
	}
	return nil
}

// Sessions implements [sessions.Store].
func (s *Store) Sessions(ctx context.Context) ([]sessions.Session, error) {
	rows, err := s.sessionsWhere(ctx, s.pool, "NOT ("+stale+")")
	return plainSessions(rows), fault(err)
}

func (s *Store) sessionsWhere(ctx context.Context, q querier, condition string) ([]*sessionRow, error) {
	rows, err := q.Query(ctx, selectSessions+" WHERE "+condition+" ORDER BY s.begun, s.id", s.clock.argument())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanSession)
}

func plainSessions(rows []*sessionRow) (out []sessions.Session) {
	for _, r := range rows {
		out = append(out, r.session)
	}
	return out
}

// CleanSessions implements [sessions.Store].
func (s *Store) CleanSessions(ctx context.Context) (ended []sessions.Session, err error) {
	var changes changes
	err = s.change(ctx, func(tx pgx.Tx) error {
		changes.reset()
		rows, err := s.sessionsWhere(ctx, tx, stale)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := s.endSession(ctx, tx, r, &changes); err != nil {
				return err
			}
		}
		ended = plainSessions(rows)
		return s.dismissOrphans(ctx, tx, &changes)
	})
	if err != nil {
		return nil, err
	}
	changes.tell(s)
	return ended, nil
}

// dismissOrphans ends the open requests of processes that are gone, and as if they were idle those of sessions that nobody
// began. Leases that ended long ago are removed.
func (s *Store) dismissOrphans(ctx context.Context, tx pgx.Tx, changes *changes) error {
	err := s.dismiss(ctx, tx, changes, `SELECT r.id FROM store_requests r LEFT JOIN store_leases l ON l.process = r.process
		WHERE r.state = 'open' AND (r.process <> '' AND `+gone+`
			OR r.posted < `+now+` - `+idle+` AND NOT EXISTS (SELECT 1 FROM store_sessions s WHERE s.id = r.session)) ORDER BY r.n`,
		s.clock.argument())
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "DELETE FROM store_leases WHERE until < "+now+" - "+idle, s.clock.argument())
	return err
}
