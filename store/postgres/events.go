package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/store/kept"
)

// maxGroup is how many of those who record are waited for together at most.
const maxGroup = 512

// An eventLog knows the end of the stream, as far as this process wrote it. It is for who commits.
type eventLog struct {
	chain   audit.Chain
	head    audit.Seal
	known   bool
	touched map[string]time.Time // when sessions were noted as heard of
}

// Record implements [approval.Recorder]: the event is committed when it returns.
func (s *Store) Record(ctx context.Context, e approval.Event) error { return s.RecordAll(ctx, e) }

// RecordFull implements [approval.DetailRecorder]. Secrets are taken out as the options say.
func (s *Store) RecordFull(ctx context.Context, e approval.Event) error { return s.RecordAll(ctx, e) }

// RecordAll records events in this order, all of them or none. What others record meanwhile is committed with them.
func (s *Store) RecordAll(ctx context.Context, events ...approval.Event) error {
	rows := make([]*kept.Record, len(events))
	for i, e := range events {
		row, err := kept.NewRecord(e.Keep(s.opt.Detail))
		if err != nil {
			return err
		}
		for _, text := range []*string{&row.Session, &row.Call, &row.Tool, &row.Workers, &row.Rule} {
			*text = clean(*text) // they are for searching: the body has them as they are
		}
		rows[i] = row
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// What follows cannot be taken back, so ctx no longer counts.
	return s.events.Do(rows)
}

// append adds records to the end of a stream, if that is where it was when they were chained. It is one statement, and so one
// transaction of its own; the row of the stream decides between writers.
const appendEvents = `
WITH stream AS (
	UPDATE store_streams SET seq = $4, hash = $5 WHERE id = $1 AND seq = $2 AND hash = $3 RETURNING id
)
INSERT INTO store_events (stream, seq, at, kind, session, call, tool, workers, state, stage, rule, via, waited, body, prev, hash)
SELECT stream.id, e.* FROM stream, unnest($6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
	$13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[], $18::bytea[], $19::bytea[], $20::bytea[]) AS e`

// commitEvents adds groups of records to the end of the stream.
func (s *Store) commitEvents(groups [][]*kept.Record) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.opt.Patience)
	defer cancel()
	var rows []*kept.Record
	for _, g := range groups {
		rows = append(rows, g...)
	}
	for {
		head, err := s.streamHead(ctx)
		if err != nil {
			return fault(err)
		}
		done, err := s.appendRecords(ctx, head, rows)
		if err != nil {
			s.log.known = false // it may be committed
			return fault(err)
		}
		if done {
			s.hub.eventsChanged(s.log.head.Seq)
			return s.touch(ctx, rows)
		}
		s.log.known = false // another process adds to the stream as well
	}
}

// streamHead returns the last record of the stream. A stream begins when something is first added.
func (s *Store) streamHead(ctx context.Context) (audit.Seal, error) {
	if s.log.known {
		return s.log.head, nil
	}
	_, err := s.pool.Exec(ctx, "INSERT INTO store_streams (id, seq, hash) VALUES ($1, 0, $2) ON CONFLICT (id) DO NOTHING",
		s.opt.Stream, make([]byte, sha256.Size))
	if err != nil {
		return audit.Seal{}, err
	}
	return readHead(ctx, s.pool, s.opt.Stream)
}

// readHead returns the last record of a stream.
func readHead(ctx context.Context, q querier, stream string) (audit.Seal, error) {
	var seq int64
	var hash []byte
	err := q.QueryRow(ctx, "SELECT seq, hash FROM store_streams WHERE id = $1", stream).Scan(&seq, &hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return audit.Seal{}, nil
	}
	return audit.NewSeal(seq, hash), err
}

// appendRecords reports whether the stream ended with head, and so now ends with the records.
func (s *Store) appendRecords(ctx context.Context, head audit.Seal, rows []*kept.Record) (bool, error) {
	c := newColumns(len(rows))
	end := head
	for _, r := range rows {
		prev := end.Hash
		r.Follow(&s.log.chain, end.Seq, prev[:])
		end = audit.NewSeal(r.Seq, r.Hash)
		c.add(r)
	}
	args := append([]any{s.opt.Stream, head.Seq, head.Hash[:], end.Seq, end.Hash[:]}, c.arguments()...)
	tag, err := s.pool.Exec(ctx, appendEvents, args...)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	s.log.head, s.log.known = end, true
	return true, nil
}

// columns are records as the columns of the table.
type columns struct {
	seq, at, waited  []int64
	texts            [9][]string
	body, prev, hash [][]byte
}

func newColumns(n int) *columns {
	c := &columns{seq: make([]int64, 0, n), at: make([]int64, 0, n), waited: make([]int64, 0, n)}
	for i := range c.texts {
		c.texts[i] = make([]string, 0, n)
	}
	return c
}

func (c *columns) add(r *kept.Record) {
	c.seq, c.at, c.waited = append(c.seq, r.Seq), append(c.at, r.At), append(c.waited, r.Waited)
	for i, text := range r.Texts() {
		c.texts[i] = append(c.texts[i], text)
	}
	c.body, c.prev, c.hash = append(c.body, r.Body), append(c.prev, r.Prev), append(c.hash, r.Hash)
}

func (c *columns) arguments() []any {
	out := []any{c.seq, c.at}
	for _, texts := range c.texts {
		out = append(out, texts)
	}
	return append(out, c.waited, c.body, c.prev, c.hash)
}

// touchEvery is how exactly it is known when a session was heard of last.
const touchEvery = time.Minute

// touch notes that something was heard of the sessions that are alive.
func (s *Store) touch(ctx context.Context, rows []*kept.Record) error {
	now, due := s.clock.now(), map[string]bool{}
	for _, r := range rows {
		if at, ok := s.log.touched[r.Session]; !ok || now.Sub(at) >= touchEvery {
			due[r.Session] = true
		}
	}
	if len(due) == 0 {
		return nil
	}
	if s.log.touched == nil || len(s.log.touched) > maxCached {
		s.log.touched = map[string]time.Time{}
	}
	ids := make([]string, 0, len(due))
	for id := range due {
		ids = append(ids, id)
		s.log.touched[id] = now
	}
	_, err := s.pool.Exec(ctx, touchSessions, s.clock.argument(), ids)
	return fault(err)
}

const touchSessions = `UPDATE store_sessions SET seen = ` + now + ` WHERE id IN (
	SELECT s.id` + fromSessions + ` WHERE s.id = ANY($2) AND s.seen < ` + now + ` - interval '1 minute' AND NOT (` + stale + `))`
