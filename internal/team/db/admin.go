package db

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
)

// AddPersonAs makes a person known under an id that somebody chose. [ErrExists] says that the id, or what the
// issuer calls the person, is somebody's already.
func (d *DB) AddPersonAs(ctx context.Context, id, issuer, subject, name string) (Person, error) {
	if err := d.exec(ctx, fmt.Sprintf("add person %q", id), `INSERT INTO team.people (tenant, id, issuer, subject, name)
		VALUES ($1, $2, $3, $4, $5)`, d.tenant, id, issuer, subject, name); err != nil {
		return Person{}, err
	}
	return d.Person(ctx, id)
}

// Since yields the records that came since then, log by log and each in its order.
func (d *DB) Since(ctx context.Context, since time.Time) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		type start struct {
			Gate, Stream string
			Before       int64
		}
		logs, err := all(ctx, d, "records", pgx.RowToStructByPos[start], `SELECT gate, stream, min(seq) - 1 FROM team.events
			WHERE tenant = $1 AND at >= $2 GROUP BY gate, stream ORDER BY gate, stream`, d.tenant, since)
		if err != nil {
			yield(Kept{}, err)
			return
		}
		for _, l := range logs {
			for after := l.Before; ; {
				page, err := d.recordPage(ctx, l.Gate, l.Stream, after)
				if err != nil {
					yield(Kept{}, err)
					return
				}
				for _, r := range page {
					if after = r.Seq; !yield(r, nil) {
						return
					}
				}
				if len(page) == 0 {
					break
				}
			}
		}
	}
}

// LastLeaf returns the newest record of a log that is a leaf of the tree.
func (d *DB) LastLeaf(ctx context.Context, gate, stream string) (seq int64, err error) {
	return one(ctx, d, fmt.Sprintf("log %s of machine %s", stream, gate), pgx.RowTo[int64], `SELECT seq FROM team.leaves
		WHERE tenant = $1 AND gate = $2 AND stream = $3 ORDER BY seq DESC LIMIT 1`, d.tenant, gate, stream)
}
