package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/store/kept"
)

// Verify implements [approval.AuditLog].
func (s *Store) Verify(ctx context.Context, seals ...audit.Seal) (out audit.Verification, err error) {
	err = s.read(ctx, func(q querier) error {
		h, err := s.currentHead(ctx, q)
		if err != nil {
			return err
		}
		v := audit.NewVerifier(audit.Log{
			Anchor: audit.NewSeal(h.anchorSeq, h.anchorHash), Head: audit.NewSeal(h.seq, h.hash),
			Find: func(hash []byte) (int64, error) { return findHash(ctx, q, hash) },
		}, seals...)
		err = eachLink(ctx, q, v.Next)
		out = v.Finish()
		return err
	})
	return out, err
}

// findHash returns the number of the record with a hash; -1 if there is none.
func findHash(ctx context.Context, q querier, hash []byte) (seq int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT seq FROM events WHERE hash = ?", hash).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return -1, nil
	}
	return seq, err
}

// eachLink reads the records in order.
func eachLink(ctx context.Context, q querier, next func(audit.Link) error) error {
	rows, err := q.QueryContext(ctx, "SELECT "+eventColumns+" FROM events ORDER BY seq")
	if err != nil {
		return err
	}
	defer rows.Close()
	var chain audit.Chain
	var r kept.Record
	var body, prev, hash sql.RawBytes
	columns := eventScan(&r)
	columns = append(columns[:len(columns)-3], &body, &prev, &hash)
	for rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		r.Body, r.Prev, r.Hash = body, prev, hash
		if err := next(r.Link(&chain)); err != nil {
			return err
		}
	}
	return rows.Err()
}
