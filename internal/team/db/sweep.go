package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/policy"
)

// sweepLimit is how many requests one transaction escalates or expires.
const sweepLimit = 200

// Sweep does what is due by the database's clock: requests that nobody answered in time end with a denial,
// and others are shown to further people, whose votes so far count from then on. Every replica may call it,
// at any time: what one has done the next finds done.
func (d *DB) Sweep(ctx context.Context, court Court) error {
	for {
		n, err := d.sweep(ctx, court)
		if again(err) || errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		if n < sweepLimit {
			return nil
		}
	}
}

func (d *DB) sweep(ctx context.Context, court Court) (n int, err error) {
	type due struct {
		ID      string
		Gate    string
		Expired bool
		Bytes   int
	}
	rows, err := all(ctx, d, "due requests", pgx.RowToStructByPos[due], `SELECT id, gate, coalesce(expires_at <= now(), false),
			octet_length(body) FROM team.requests
		WHERE tenant = $1 AND state = 'pending' AND (expires_at <= now() OR escalates_at <= now()) ORDER BY id LIMIT $2`, d.tenant, sweepLimit)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	known := map[string]*knownRequest{}
	var ids []string
	bytes := 0
	for i, r := range rows {
		if bytes >= pageBytes { // the others come with the next sweep
			rows = rows[:i]
			break
		}
		bytes += r.Bytes
		ids = append(ids, r.ID)
		k, err := d.knownRequest(ctx, r.ID, court)
		switch {
		case err == nil:
			known[r.ID] = k
		case errors.Is(err, ErrChanged):
			// Nobody can answer it any more, so that it ends is all that is left.
		default:
			return 0, err
		}
	}
	t := &settlement{db: d}
	return len(rows), t.run(ctx, func(tx pgx.Tx) error {
		if err := t.read(ctx, tx, ids); err != nil {
			return err
		}
		for _, r := range rows {
			s := t.rows[r.ID]
			if s == nil || s.state != policy.StatePending {
				continue
			}
			s.request = known[r.ID]
			switch {
			case s.request == nil:
				if err := t.discard(ctx, tx, r.ID); err != nil {
					return err
				}
			case r.Expired:
				t.expire(s)
			default:
				t.escalate(s, court)
			}
		}
		return nil
	})
}

// expire denies.
func (t *settlement) expire(s *standing) {
	s.settled, s.state, s.decision = true, policy.StateExpired, nil
	t.change(s)
	t.tell(NoticeSettled, s)
}

// escalate asks further people, and counts again: some of them may have voted before.
func (t *settlement) escalate(s *standing, court Court) {
	s.asked = asks(s.request.Request, s.age)
	for _, e := range s.request.Routing.Need.Escalate {
		if at := s.now.Add(e.After - s.age); e.After > s.age && (s.next == nil || at.Before(*s.next)) {
			s.next = &at
		}
	}
	t.change(s)
	if tally := s.count(court); tally.State != policy.StatePending {
		t.settle(s, tally)
		return
	}
	t.tell(NoticeEscalated, s)
}

// discard ends a request whose row somebody changed: its gate refuses any answer and lets it expire.
func (t *settlement) discard(ctx context.Context, tx pgx.Tx, id string) error {
	_, err := tx.Exec(ctx, `UPDATE team.requests SET state = $3, version = version + 1, changed = now(), escalates_at = NULL
		WHERE tenant = $1 AND id = $2 AND state = 'pending'`, t.db.tenant, id, policy.StateInvalid)
	return err
}

// Prune removes requests that ended longer ago, with their votes, and records that came longer ago. Zero keeps all.
// Records go only from the beginning of a log, and only once a checkpoint has what follows them; the last one that went
// stays known by number and hash. Leaves, tree and checkpoints stay: they have hashes, and proofs need them.
func (d *DB) Prune(ctx context.Context, keep time.Duration) error {
	if keep > 0 {
		if err := d.pruneRequests(ctx, keep); err != nil {
			return fmt.Errorf("prune requests: %w", err)
		}
		if err := d.pruneRecords(ctx, keep); err != nil {
			return fmt.Errorf("prune records: %w", err)
		}
	}
	_, err := d.pool.Exec(ctx, `DELETE FROM team.web_sessions WHERE tenant = $1 AND expires < now() - interval '1 hour'`,
		d.tenant) // a call can bring back no session that has ended: it is over by then
	if err != nil {
		return fmt.Errorf("prune web sessions: %w", err)
	}
	return nil
}

// pruneRequests also removes notices about them that no webhook took.
func (d *DB) pruneRequests(ctx context.Context, keep time.Duration) error {
	_, err := d.pool.Exec(ctx, `WITH old AS (
			DELETE FROM team.requests WHERE tenant = $1 AND state <> 'pending' AND changed < now() - $2::interval RETURNING id),
		unsent AS (
			DELETE FROM team.outbox WHERE tenant = $1 AND next_at = 'infinity' AND created < now() - $2::interval)
		DELETE FROM team.votes WHERE tenant = $1 AND request IN (SELECT id FROM old)`, d.tenant, keep)
	return err
}

func (d *DB) pruneRecords(ctx context.Context, keep time.Duration) error {
	_, err := d.pool.Exec(ctx, `WITH logged AS (
			SELECT gate, stream, max(seq) AS seq FROM team.leaves WHERE tenant = $1 GROUP BY gate, stream),
		last AS (
			SELECT e.gate, e.stream, max(e.seq) AS seq FROM team.events e JOIN logged l ON l.gate = e.gate AND l.stream = e.stream
			WHERE e.tenant = $1 AND e.at < now() - $2::interval AND e.seq < l.seq GROUP BY e.gate, e.stream),
		moved AS (
			UPDATE team.streams s SET first_seq = e.seq, first_hash = e.hash FROM last JOIN team.events e
				ON e.tenant = $1 AND e.gate = last.gate AND e.stream = last.stream AND e.seq = last.seq
			WHERE s.tenant = $1 AND s.gate = last.gate AND s.id = last.stream AND s.first_seq < e.seq)
		DELETE FROM team.events e USING last
			WHERE e.tenant = $1 AND e.gate = last.gate AND e.stream = last.stream AND e.seq <= last.seq`,
		d.tenant, keep)
	return err
}
