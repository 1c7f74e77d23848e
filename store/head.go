package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A head is the one row that every change of the store touches.
type head struct {
	schema     int64 // version of the schema
	generation int64 // counts what must never be lost: see mark.go
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

const headColumns = "schema, generation, policy, grants, requests, clock, rules_sum, prefs_sum, claims_sum, open, runs, seq, hash, anchor_seq, anchor_hash"

func (h *head) sum() []byte {
	return sumOf("head", h.schema, h.generation, h.policy, h.grants, h.requests, h.clock, h.rulesSum, h.prefsSum, h.claimsSum,
		h.open, h.runs, h.seq, h.hash, h.anchorSeq, h.anchorHash)
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
	rules_sum = ?, prefs_sum = ?, claims_sum = ?, open = ?, runs = ?, seq = ?, hash = ?, anchor_seq = ?, anchor_hash = ?, sum = ? WHERE id = 1`

func (h *head) row() []any {
	return []any{h.schema, h.generation, h.policy, h.grants, h.requests, h.clock, h.rulesSum, h.prefsSum, h.claimsSum,
		h.open, h.runs, h.seq, h.hash, h.anchorSeq, h.anchorHash, h.sum()}
}

// newerError reports a schema that this program does not know.
type newerError struct{ has, known int64 }

func (e *newerError) Error() string {
	return fmt.Sprintf("its schema is version %d, this program knows version %d", e.has, e.known)
}

// nanoseconds and fromNano keep the zero time as 0.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
