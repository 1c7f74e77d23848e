package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
)

const eventColumns = "e.seq, e.at, e.kind, e.session, e.call, e.tool, e.workers, e.state, e.stage, e.rule, e.via, e.waited, e.body, e.prev, e.hash"

func scanRecord(rows pgx.Rows, r *kept.Record, more ...any) error {
	return rows.Scan(append([]any{&r.Seq, &r.At, &r.Kind, &r.Session, &r.Call, &r.Tool, &r.Workers, &r.State, &r.Stage, &r.Rule, &r.Via,
		&r.Waited, &r.Body, &r.Prev, &r.Hash}, more...)...)
}

// unended says that a record is the start of a call whose end is not in the stream.
var unended = "(e.kind = 'started' AND NOT EXISTS (SELECT 1 FROM store_events x WHERE x.stream = e.stream AND x.call = e.call" +
	" AND x.session = e.session AND x.seq > e.seq AND x.kind = 'ended' AND x.state IN (" + statesThatRun() + ")))"

func statesThatRun() string {
	var names []string
	for _, s := range []policy.State{
		policy.StateApproved, policy.StateAutoApproved, policy.StateSessionApproved, policy.StateModeApproved, policy.StateFree,
	} {
		names = append(names, "'"+string(s)+"'")
	}
	return strings.Join(names, ", ")
}

// where writes a filter as a condition. Its first argument is the stream.
func where(stream string, f approval.RecordFilter) (string, []any) {
	conditions, args := []string{"e.stream = $1"}, []any{stream}
	add := func(condition string, value any) {
		args = append(args, value)
		conditions = append(conditions, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args))))
	}
	if f.After > 0 {
		add("e.seq > ?", f.After)
	}
	if !f.Since.IsZero() {
		add("e.at >= ?", kept.Nanoseconds(f.Since))
	}
	if !f.Until.IsZero() {
		add("e.at < ?", kept.Nanoseconds(f.Until))
	}
	if f.Session != "" {
		add("e.session = ?", f.Session)
	}
	if f.Tool != "" {
		add("e.tool LIKE ?", likePattern.Replace(f.Tool))
	}
	if f.Worker != "" {
		add("strpos(e.workers, ?) > 0", "/"+f.Worker+"/")
	}
	if f.States != nil {
		add("e.state = ANY(?)", f.States)
	}
	if f.Stage != "" {
		add("e.stage = ?", f.Stage)
	}
	if f.Rule != "" {
		add("e.rule = ?", f.Rule)
	}
	return strings.Join(conditions, " AND "), args
}

// likePattern writes a pattern with * and ? as LIKE has it.
var likePattern = strings.NewReplacer("\\", "\\\\", "%", "\\%", "_", "\\_", "*", "%", "?", "_")

// Records implements [approval.AuditLog], for the stream of this store.
func (s *Store) Records(ctx context.Context, f approval.RecordFilter) iter.Seq2[approval.Record, error] {
	condition, args := where(s.opt.Stream, f)
	if f.Last > 0 {
		// The newest are looked for from the end, and given out in order.
		args = append(args, f.Last)
		condition = fmt.Sprintf("e.stream = $1 AND e.seq IN (SELECT e.seq FROM store_events e WHERE %s ORDER BY e.seq DESC LIMIT $%d)", condition, len(args))
	}
	return s.records(ctx, condition, args)
}

// RecordsOf returns the records of a call or request, the oldest first.
func (s *Store) RecordsOf(ctx context.Context, id string) iter.Seq2[approval.Record, error] {
	const of = "e.stream = $1 AND (e.call = $2 OR convert_from(e.body, 'UTF8')::json ->> 'request' = $2)"
	return s.records(ctx, of, []any{s.opt.Stream, id})
}

func (s *Store) records(ctx context.Context, condition string, args []any) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		rows, err := s.pool.Query(ctx, "SELECT "+eventColumns+", "+unended+" FROM store_events e WHERE "+condition+" ORDER BY e.seq", args...)
		if err != nil {
			yield(approval.Record{}, fault(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var r kept.Record
			var running bool
			var record approval.Record
			err := scanRecord(rows, &r, &running)
			if err == nil {
				record, err = r.Record()
			}
			record.Unended = running
			if !yield(record, fault(err)) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(approval.Record{}, fault(err))
		}
	}
}

// RecordAt implements [approval.AuditLog]. It checks the hash of the record.
func (s *Store) RecordAt(ctx context.Context, seq int64) (out approval.Record, err error) {
	err = fmt.Errorf("record %d: %w", seq, audit.ErrNoRecord)
	rows, queryErr := s.pool.Query(ctx, "SELECT "+eventColumns+", "+unended+" FROM store_events e WHERE e.stream = $1 AND e.seq = $2", s.opt.Stream, seq)
	if queryErr != nil {
		return out, fault(queryErr)
	}
	defer rows.Close()
	for rows.Next() {
		var r kept.Record
		var running bool
		if err := scanRecord(rows, &r, &running); err != nil {
			return out, fault(err)
		}
		if hash := r.Sum(new(audit.Chain), r.Prev); string(hash[:]) != string(r.Hash) {
			return out, kept.Damage(fmt.Sprintf("record %d is not what was recorded", seq))
		}
		out, err = r.Record()
		out.Unended = running
	}
	return out, fault(errors.Join(err, rows.Err()))
}

// Follow yields the records that fit, those that are there and then each as it comes, by whatever process, until ctx is done.
func (s *Store) Follow(ctx context.Context, f approval.RecordFilter) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		changed := make(chan struct{}, 1)
		defer s.hub.listen(topicEvents, func([]string) { wake(changed) })()
		for {
			for r, err := range s.Records(ctx, f) {
				if ctx.Err() != nil || !yield(r, err) || err != nil {
					return
				}
				f.After = r.Seq
			}
			f.Last = 0
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Seal implements [approval.AuditLog].
func (s *Store) Seal(ctx context.Context) (audit.Seal, error) {
	seal, err := readHead(ctx, s.pool, s.opt.Stream)
	return seal, fault(err)
}

// Verify implements [approval.AuditLog].
func (s *Store) Verify(ctx context.Context, seals ...audit.Seal) (out audit.Verification, err error) {
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		head, err := readHead(ctx, tx, s.opt.Stream)
		if err != nil {
			return err
		}
		v := audit.NewVerifier(audit.Log{
			Head: head,
			Find: func(hash []byte) (int64, error) { return s.findHash(ctx, hash) },
		}, seals...)
		err = s.eachLink(ctx, tx, v.Next)
		out = v.Finish()
		return err
	})
	return out, fault(err)
}

// findHash returns the number of the record with a hash; -1 if there is none.
func (s *Store) findHash(ctx context.Context, hash []byte) (seq int64, err error) {
	err = s.pool.QueryRow(ctx, "SELECT seq FROM store_events WHERE stream = $1 AND hash = $2", s.opt.Stream, hash).Scan(&seq)
	if errors.Is(err, pgx.ErrNoRows) {
		return -1, nil
	}
	return seq, err
}

// eachLink reads the records in order.
func (s *Store) eachLink(ctx context.Context, tx pgx.Tx, next func(audit.Link) error) error {
	rows, err := tx.Query(ctx, "SELECT "+eventColumns+" FROM store_events e WHERE e.stream = $1 ORDER BY e.seq", s.opt.Stream)
	if err != nil {
		return err
	}
	defer rows.Close()
	var chain audit.Chain
	for rows.Next() {
		var r kept.Record
		if err := scanRecord(rows, &r); err != nil {
			return err
		}
		if err := next(r.Link(&chain)); err != nil {
			return err
		}
	}
	return rows.Err()
}
