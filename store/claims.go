package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store/kept"
)

// The states of a claim.
const (
	claimTaken     = "taken"
	claimSuspended = "suspended"
)

// A claimRow is a row of the table of claims.
type claimRow struct {
	n                               int64
	batch, call, fingerprint, state string
	at                              int64
}

func (r *claimRow) fields() []any {
	return []any{r.n, r.batch, r.call, r.fingerprint, r.state, r.at}
}

// sumClaims is what the head keeps of all claims: one that is lost would let a
// call run twice.
func sumClaims(rows []claimRow) []byte {
	return sumRows("all claims", rows, func(r *claimRow) []byte { return sumOf("claims", r.fields()...) })
}

const claimColumns = "n, batch, call, fingerprint, state, at"

// readClaims reads all claims. There is one for each call that ran from a saved
// batch.
func (t *txn) readClaims() ([]claimRow, error) {
	rows, err := collect(t.ctx, t.conn, func(r *claimRow, scan scanner) error {
		return scan(&r.n, &r.batch, &r.call, &r.fingerprint, &r.state, &r.at)
	}, "SELECT "+claimColumns+" FROM claims ORDER BY n")
	if err == nil && string(sumClaims(rows)) != string(t.head.claimsSum) {
		err = damage("its claims were changed outside of assent")
	}
	return rows, err
}

// Claim implements [approval.ClaimStore].
func (s *Store) Claim(ctx context.Context, c approval.Claim) error {
	return s.changeClaim(ctx, c, func(r *claimRow) error {
		switch {
		case r.state == "" && !c.Resume, r.state == claimSuspended && c.Resume:
			r.state = claimTaken
			return nil
		}
		return fmt.Errorf("call %q of batch %q: %w", c.Call, c.Batch, approval.ErrClaimed)
	})
}

// Release implements [approval.ClaimStore].
func (s *Store) Release(ctx context.Context, c approval.Claim, stage approval.Stage) error {
	return s.changeClaim(ctx, c, func(r *claimRow) error {
		switch {
		case r.state != claimTaken:
		case stage == approval.StageSuspended:
			r.state = claimSuspended
		case stage == approval.StageWaiting:
			r.state = ""
		}
		return nil
	})
}

// changeClaim writes what f makes of the claim on a call. One in no state is not
// there.
func (s *Store) changeClaim(ctx context.Context, c approval.Claim, f func(*claimRow) error) error {
	return s.change(ctx, func(t *txn) error {
		rows, err := t.readClaims()
		if err != nil {
			return err
		}
		r := findClaim(&rows, c)
		if err := f(r); err != nil {
			return err
		}
		return t.writeClaims(rows, r, kept.Nanoseconds(t.now))
	})
}

// findClaim returns the row of a call; at the end a new one, if it has none.
func findClaim(rows *[]claimRow, c approval.Claim) *claimRow {
	fingerprint, last := c.Fingerprint.String(), int64(0)
	for i := range *rows {
		r := &(*rows)[i]
		if r.batch == c.Batch && r.call == c.Call && r.fingerprint == fingerprint {
			return r
		}
		last = r.n
	}
	*rows = append(*rows, claimRow{n: last + 1, batch: c.Batch, call: c.Call, fingerprint: fingerprint})
	return &(*rows)[len(*rows)-1]
}

func (t *txn) writeClaims(rows []claimRow, changed *claimRow, at int64) error {
	if changed.at == 0 {
		changed.at = at
	}
	if err := t.exec("DELETE FROM claims WHERE n = ?", changed.n); err != nil {
		return err
	}
	var left []claimRow
	for i := range rows {
		if r := &rows[i]; r.state != "" {
			left = append(left, *r)
		}
	}
	if changed.state != "" {
		const insert = "INSERT INTO claims (" + claimColumns + ") VALUES (?, ?, ?, ?, ?, ?)"
		if err := t.exec(insert, changed.fields()...); err != nil {
			return err
		}
	}
	t.head.claimsSum = sumClaims(left)
	t.lasting()
	return nil
}

// pruneClaims removes claims of before the age. As long as a run waits that was
// saved before a call of it may have been claimed, the claim stays.
func (s *Store) pruneClaims(ctx context.Context, age time.Duration) error {
	const oldest = "SELECT coalesce(min(at), 0), (SELECT coalesce(min(saved), 0) FROM runs) FROM claims"
	var at, saved int64
	h, err := s.now(ctx)
	if err == nil {
		err = s.read(ctx, func(q querier) error { return q.QueryRowContext(ctx, oldest).Scan(&at, &saved) })
	}
	end := kept.Nanoseconds(s.latest(h).Add(-age))
	if saved > 0 {
		end = min(end, saved)
	}
	if err != nil || age == 0 || at == 0 || at >= end {
		return err
	}
	return s.change(ctx, func(t *txn) error {
		rows, err := t.readClaims()
		if err != nil {
			return err
		}
		t.head.claimsSum = sumClaims(slices.DeleteFunc(rows, func(r claimRow) bool { return r.at < end }))
		t.lasting()
		return t.exec("DELETE FROM claims WHERE at < ?", end)
	})
}
