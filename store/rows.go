package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
)

// A rowSum is the checksum of a row, or of rows. Every field goes in with its
// length, so that no two rows are the same bytes.
type rowSum struct{ data []byte }

func newSum(table string) *rowSum {
	s := &rowSum{}
	s.text(table)
	return s
}

func (s *rowSum) number(n int64) { s.data = binary.BigEndian.AppendUint64(s.data, uint64(n)) }

func (s *rowSum) bytes(b []byte) {
	s.number(int64(len(b)))
	s.data = append(s.data, b...)
}

func (s *rowSum) text(t string) {
	s.number(int64(len(t)))
	s.data = append(s.data, t...)
}

func (s *rowSum) sum() []byte {
	sum := sha256.Sum256(s.data)
	return sum[:]
}

// sumOf returns the checksum of a row: numbers, texts and bytes.
func sumOf(table string, fields ...any) []byte {
	s := newSum(table)
	for _, f := range fields {
		switch f := f.(type) {
		case int64:
			s.number(f)
		case string:
			s.text(f)
		case []byte:
			s.bytes(f)
		default:
			panic(fmt.Sprintf("store: a row cannot have a %T", f))
		}
	}
	return s.sum()
}

// checkRow compares a row with the checksum that it carries.
func checkRow(sum []byte, table string, fields ...any) error {
	if !bytes.Equal(sum, sumOf(table, fields...)) {
		return damage("a row of %s (%v) is not what was written", table, fields[0])
	}
	return nil
}

// sumRows returns the checksum of all rows of a table, or of those that belong together: one
// that is gone is noticed as well as one that was changed.
func sumRows[T any](name string, rows []T, sum func(*T) []byte) []byte {
	all := newSum(name)
	for i := range rows {
		all.bytes(sum(&rows[i]))
	}
	return all.sum()
}

// A scanner copies the columns of a row.
type scanner func(into ...any) error

// collect returns the rows of a query, each as read makes it.
func collect[T any](ctx context.Context, q querier, read func(*T, scanner) error, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var one T
		if err := read(&one, rows.Scan); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// A head is the one row that every change of the store touches.
type head struct {
	schema     int64 // version of the schema
	generation int64 // counts what must never be lost: see [mark]
	policy     int64 // counts changes of rules and preferences
	grants     int64 // counts changes of grants and sessions
	requests   int64 // counts changes of requests
	clock      int64 // the latest time that was seen, in nanoseconds

	// What there must be, so that a row which cannot be found is noticed: what all
	// rules, preferences and claims add up to, how many requests are open, how many
	// runs are kept.
	rulesSum, prefsSum, claimsSum []byte
	open, runs                    int64

	seq        int64  // of the last event
	hash       []byte // of the last event
	anchorSeq  int64  // of the last event that was removed as too old
	anchorHash []byte
}

const headColumns = "schema, generation, policy, grants, requests, clock, rules_sum, prefs_sum, claims_sum, open, runs, " +
	"seq, hash, anchor_seq, anchor_hash"

func (h *head) sum() []byte {
	return sumOf("head", h.schema, h.generation, h.policy, h.grants, h.requests, h.clock, h.rulesSum, h.prefsSum,
		h.claimsSum, h.open, h.runs, h.seq, h.hash, h.anchorSeq, h.anchorHash)
}

// A querier is a connection or a prepared statement's connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readHead reads the head and checks that this program may use the store.
func readHead(ctx context.Context, q querier, known int64) (h head, err error) {
	var sum []byte
	err = q.QueryRowContext(ctx, "SELECT "+headColumns+", sum FROM head WHERE id = 1").Scan(
		&h.schema, &h.generation, &h.policy, &h.grants, &h.requests, &h.clock, &h.rulesSum, &h.prefsSum, &h.claimsSum,
		&h.open, &h.runs, &h.seq, &h.hash, &h.anchorSeq, &h.anchorHash, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return h, damage("its head is missing")
	case err != nil:
		return h, err
	case string(sum) != string(h.sum()):
		return h, damage("its head is not what was written")
	case h.schema > known:
		return h, &newerError{has: h.schema, known: known}
	case h.schema < known:
		return h, damage("its head says version %d where the file says %d", h.schema, known)
	}
	return h, nil
}

const updateHead = `UPDATE head SET schema = ?, generation = ?, policy = ?, grants = ?, requests = ?, clock = ?,
	rules_sum = ?, prefs_sum = ?, claims_sum = ?, open = ?, runs = ?, seq = ?, hash = ?, anchor_seq = ?,
	anchor_hash = ?, sum = ? WHERE id = 1`

func (h *head) row() []any {
	return []any{h.schema, h.generation, h.policy, h.grants, h.requests, h.clock, h.rulesSum, h.prefsSum, h.claimsSum,
		h.open, h.runs, h.seq, h.hash, h.anchorSeq, h.anchorHash, h.sum()}
}

// newerError reports a schema that this program does not know.
type newerError struct{ has, known int64 }

func (e *newerError) Error() string {
	return fmt.Sprintf("its schema is version %d, this program knows version %d", e.has, e.known)
}
