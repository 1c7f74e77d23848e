package db

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/team/wire"
)

// A Stream is the log of a machine's store, as far as it came here.
type Stream struct {
	Gate string
	ID   string
	// Head is the newest record, Anchor the one before the oldest that is kept.
	Head, Anchor audit.Seal
}

const selectStreams = `SELECT gate, id, seq, hash, first_seq, first_hash FROM team.streams WHERE tenant = $1`

func readStream(row pgx.CollectableRow) (s Stream, err error) {
	var seq, first int64
	var hash, before []byte
	err = row.Scan(&s.Gate, &s.ID, &seq, &hash, &first, &before)
	s.Head, s.Anchor = audit.NewSeal(seq, hash), audit.NewSeal(first, before)
	return s, err
}

// Streams returns all logs.
func (d *DB) Streams(ctx context.Context) ([]Stream, error) {
	return all(ctx, d, "logs", readStream, selectStreams+` ORDER BY gate, id`, d.tenant)
}

// Stream returns a log.
func (d *DB) Stream(ctx context.Context, gate, id string) (Stream, error) {
	return one(ctx, d, fmt.Sprintf("log %s of machine %s", id, gate), readStream, selectStreams+` AND gate = $2 AND id = $3`, d.tenant, gate, id)
}

// pendingRecords are records on their way.
type pendingRecords struct {
	gate, stream string
	rows         []wire.Record
	moved        bool // they are written; otherwise the log does not end where they begin
	done         chan error
}

// maxRecords bounds what comes at once.
const maxRecords = 10_000

// Append adds records to a machine's log, if they go on where it ends. What it has already is not written
// again. A gap is [ErrGap]; other records with the same numbers are [ErrFork], and so is a record whose
// hash is not that of what is in it.
func (d *DB) Append(ctx context.Context, gate string, r wire.Records) (wire.Kept, error) {
	kept, err := d.append(ctx, gate, r)
	if err != nil {
		return wire.Kept{}, fmt.Errorf("log %s of machine %s: %w", r.Stream, gate, err)
	}
	return kept, nil
}

func (d *DB) append(ctx context.Context, gate string, r wire.Records) (wire.Kept, error) {
	if err := checkRecords(r); err != nil {
		return wire.Kept{}, err
	}
	rows := r.Rows
	for {
		moved, err := d.tryAppend(ctx, gate, r.Stream, rows)
		if err != nil {
			return wire.Kept{}, err
		}
		if moved {
			last := rows[len(rows)-1]
			return wire.Kept{Stream: r.Stream, Seq: last.Seq, Hash: last.Hash}, nil
		}
		head, err := d.begin(ctx, gate, r.Stream, rows[0])
		if err != nil {
			return wire.Kept{}, err
		}
		if rows, err = d.goOn(ctx, head, rows); err != nil {
			return wire.Kept{}, err
		}
		if len(rows) == 0 {
			return wire.Kept{Stream: r.Stream, Seq: head.Head.Seq, Hash: head.Head.Hash[:]}, nil
		}
	}
}

// checkRecords reports why records are not a piece of a chain.
func checkRecords(r wire.Records) error {
	switch {
	case r.Stream == "" || len(r.Stream) > 200 || strings.ContainsFunc(r.Stream, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return fmt.Errorf("the name of a log: %w: use 1 to 200 printable characters", errInvalid)
	case len(r.Rows) == 0:
		return fmt.Errorf("%w: there are no records", errInvalid)
	case len(r.Rows) > maxRecords:
		return fmt.Errorf("%w: there are %d records; send at most %d at once", errInvalid, len(r.Rows), maxRecords)
	}
	var chain audit.Chain
	for i, row := range r.Rows {
		if i > 0 && row.Seq != r.Rows[i-1].Seq+1 {
			return fmt.Errorf("%w: %d follows %d", ErrGap, row.Seq, r.Rows[i-1].Seq)
		}
		if row.Seq < 1 || len(row.Prev) != sha256.Size {
			return fmt.Errorf("record %d: its number or the hash before it: %w", row.Seq, errInvalid)
		}
		if i > 0 && !bytes.Equal(row.Prev, r.Rows[i-1].Hash) {
			return fmt.Errorf("%w: record %d does not follow the one before", ErrFork, row.Seq)
		}
		if sum := chain.Hash(row.Prev, row.Numbers, row.Texts, row.Body); !bytes.Equal(sum[:], row.Hash) {
			return fmt.Errorf("%w: record %d is not what its hash says", ErrFork, row.Seq)
		}
	}
	return nil
}

func (d *DB) tryAppend(ctx context.Context, gate, stream string, rows []wire.Record) (moved bool, err error) {
	p := &pendingRecords{gate: gate, stream: stream, rows: rows, done: make(chan error, 1)}
	d.records.add(p)
	select {
	case err := <-p.done:
		return p.moved, err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// begin returns how far the log is here; one that is new begins before this record.
func (d *DB) begin(ctx context.Context, gate, stream string, first wire.Record) (Stream, error) {
	_, err := d.pool.Exec(ctx, `INSERT INTO team.streams (tenant, gate, id, seq, hash, first_seq, first_hash)
		VALUES ($1, $2, $3, $4, $5, $4, $5) ON CONFLICT DO NOTHING`, d.tenant, gate, stream, first.Seq-1, first.Prev)
	if err != nil {
		return Stream{}, err
	}
	return d.Stream(ctx, gate, stream)
}

// goOn returns those of the rows that the log does not have yet.
func (d *DB) goOn(ctx context.Context, s Stream, rows []wire.Record) ([]wire.Record, error) {
	first, last := rows[0], rows[len(rows)-1]
	switch {
	case first.Seq > s.Head.Seq+1:
		return nil, fmt.Errorf("%w: %d comes, and the newest here is %d", ErrGap, first.Seq, s.Head.Seq)
	case first.Seq == s.Head.Seq+1:
		if !bytes.Equal(first.Prev, s.Head.Hash[:]) {
			return nil, fmt.Errorf("%w: record %d does not follow the newest one here", ErrFork, first.Seq)
		}
		return rows, nil
	case last.Seq >= s.Head.Seq:
		same := rows[s.Head.Seq-first.Seq]
		if !bytes.Equal(same.Hash, s.Head.Hash[:]) {
			return nil, fmt.Errorf("%w: record %d", ErrFork, same.Seq)
		}
		return rows[s.Head.Seq-first.Seq+1:], nil
	}
	// All of them are here, unless they are others.
	var hash []byte
	err := d.pool.QueryRow(ctx, `SELECT hash FROM team.events WHERE tenant = $1 AND gate = $2 AND stream = $3 AND seq = $4`,
		d.tenant, s.Gate, s.ID, last.Seq).Scan(&hash)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && last.Seq <= s.Anchor.Seq: // it was removed as too old
		return nil, nil
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("%w: record %d is gone", ErrChanged, last.Seq)
	case err != nil:
		return nil, err
	case !bytes.Equal(hash, last.Hash):
		return nil, fmt.Errorf("%w: record %d", ErrFork, last.Seq)
	}
	return nil, nil
}

// commitRecords moves the ends of several logs in one conditional update, and writes the rows of those
// that moved.
func (d *DB) commitRecords(items []*pendingRecords) {
	ctx, cancel := context.WithTimeout(context.Background(), longestCommit)
	defer cancel()
	err := d.writeRecords(ctx, items)
	for again(err) && ctx.Err() == nil {
		err = d.writeRecords(ctx, items)
	}
	for _, p := range items {
		p.done <- err
	}
}

func (d *DB) writeRecords(ctx context.Context, items []*pendingRecords) error {
	var gates, streams []string
	var olds, news []int64
	var prevs, hashes [][]byte
	logs := map[[2]string]*pendingRecords{}
	for _, p := range items {
		p.moved = false
		key := [2]string{p.gate, p.stream}
		if logs[key] != nil {
			continue // its turn comes when the first one is written
		}
		logs[key] = p
		first, last := p.rows[0], p.rows[len(p.rows)-1]
		gates, streams = append(gates, p.gate), append(streams, p.stream)
		olds, prevs = append(olds, first.Seq-1), append(prevs, first.Prev)
		news, hashes = append(news, last.Seq), append(hashes, last.Hash)
	}
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `WITH u AS MATERIALIZED (
				SELECT * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bytea[], $6::bigint[], $7::bytea[]) AS u (gate, id, old, prev, seq, hash)),
			held AS (
				SELECT s.gate, s.id FROM team.streams s JOIN u ON s.gate = u.gate AND s.id = u.id WHERE s.tenant = $1 ORDER BY s.gate, s.id FOR UPDATE OF s)
			UPDATE team.streams s SET seq = u.seq, hash = u.hash FROM u JOIN held USING (gate, id)
			WHERE s.tenant = $1 AND s.gate = u.gate AND s.id = u.id AND s.seq = u.old AND s.hash = u.prev RETURNING s.gate, s.id`,
			d.tenant, gates, streams, olds, prevs, news, hashes)
		if err != nil {
			return err
		}
		var moved []*pendingRecords
		var gate, id string
		if _, err := pgx.ForEachRow(rows, []any{&gate, &id}, func() error {
			moved = append(moved, logs[[2]string{gate, id}])
			return nil
		}); err != nil || len(moved) == 0 {
			return err
		}
		_, err = tx.CopyFrom(ctx, pgx.Identifier{"team", "events"},
			[]string{"tenant", "gate", "stream", "seq", "prev", "hash", "numbers", "texts", "body"}, &recordSource{tenant: d.tenant, logs: moved, at: -1})
		for _, p := range moved {
			p.moved = err == nil
		}
		return err
	})
}

// A recordSource gives the rows of several logs to COPY.
type recordSource struct {
	tenant string
	logs   []*pendingRecords
	at     int // the row of the first log
}

func (s *recordSource) Next() bool {
	s.at++
	for len(s.logs) > 0 && s.at >= len(s.logs[0].rows) {
		s.logs, s.at = s.logs[1:], 0
	}
	return len(s.logs) > 0
}

func (s *recordSource) Values() ([]any, error) {
	p := s.logs[0]
	r := p.rows[s.at]
	return []any{s.tenant, p.gate, p.stream, r.Seq, r.Prev, r.Hash, orEmpty(r.Numbers), orEmpty(r.Texts), orEmpty(r.Body)}, nil
}

func (s *recordSource) Err() error { return nil }

// orEmpty makes of no list an empty one: a column is never NULL.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// A Kept is a record as it came, and when.
type Kept struct {
	wire.Record
	Gate, Stream string
	At           time.Time
}

const selectRecords = `SELECT gate, stream, at, seq, prev, hash, numbers, texts, body FROM team.events WHERE tenant = $1`

func readRecord(row pgx.CollectableRow) (k Kept, err error) {
	err = row.Scan(&k.Gate, &k.Stream, &k.At, &k.Seq, &k.Prev, &k.Hash, &k.Numbers, &k.Texts, &k.Body)
	return k, err
}

// Records returns records of a log after a number, in their order.
func (d *DB) Records(ctx context.Context, gate, stream string, after int64, limit int) ([]Kept, error) {
	return all(ctx, d, "records", readRecord, selectRecords+` AND gate = $2 AND stream = $3 AND seq > $4 ORDER BY seq LIMIT $5`,
		d.tenant, gate, stream, after, limit)
}

// recordPage returns the next records of a log after a number, as many as are read at once; none if there are no more.
func (d *DB) recordPage(ctx context.Context, gate, stream string, after int64) ([]Kept, error) {
	return all(ctx, d, "records", readRecord, fmt.Sprintf(`SELECT gate, stream, at, seq, prev, hash, numbers, texts, body FROM (
			SELECT e.*, sum(%[1]s) OVER (ORDER BY seq) - %[1]s AS before FROM (
				SELECT * FROM team.events WHERE tenant = $1 AND gate = $2 AND stream = $3 AND seq > $4
				ORDER BY seq LIMIT 1000) e) p
		WHERE before < %[2]d ORDER BY seq`, recordBytes, pageBytes), d.tenant, gate, stream, after)
}

// recordBytes is how long a record is; its texts too are as long as a machine wants.
const recordBytes = `(octet_length(body) + octet_length(texts::text) + octet_length(numbers::text))`

// VerifyStream walks a log and reports everything that is not as it was recorded.
func (d *DB) VerifyStream(ctx context.Context, gate, id string, seals ...audit.Seal) (audit.Verification, error) {
	s, err := d.Stream(ctx, gate, id)
	if err != nil {
		return audit.Verification{}, err
	}
	v := audit.NewVerifier(audit.Log{Anchor: s.Anchor, Head: s.Head, Find: func(hash []byte) (int64, error) {
		seq := int64(-1)
		err := d.pool.QueryRow(ctx, `SELECT coalesce(max(seq), -1) FROM team.events WHERE tenant = $1 AND gate = $2 AND stream = $3 AND hash = $4`,
			d.tenant, gate, id, hash).Scan(&seq)
		return seq, err
	}}, seals...)
	var chain audit.Chain
	for after := s.Anchor.Seq; ; {
		page, err := d.recordPage(ctx, gate, id, after)
		if err != nil {
			return audit.Verification{}, err
		}
		for _, r := range page {
			if r.Seq > s.Head.Seq {
				return v.Finish(), nil // it came while we read
			}
			after = r.Seq
			// What the server removed has no record of its own: the tree has an end that follows it.
			link := audit.Link{Seq: r.Seq, Prev: r.Prev, Hash: r.Hash, Sum: chain.Hash(r.Prev, r.Numbers, r.Texts, r.Body), Pruned: s.Anchor.String()}
			if err := v.Next(link); err != nil {
				return audit.Verification{}, err
			}
		}
		if len(page) == 0 {
			return v.Finish(), nil
		}
	}
}
