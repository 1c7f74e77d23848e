package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Bundle is a signed note as it was published.
type Bundle struct {
	Serial  int64
	Note    []byte
	Created time.Time
}

// A BundleVerifier checks a note with the team's key and returns its serial. A row that it refuses is
// not there for anybody.
type BundleVerifier func(note []byte) (serial int64, err error)

func readBundle(row pgx.CollectableRow) (b Bundle, err error) {
	err = row.Scan(&b.Serial, &b.Note, &b.Created)
	return b, err
}

// bundlePage is how many rows are looked at together: all but one are there only if somebody forged
// them.
const bundlePage = 16

// Newest returns the bundle with the highest serial that verifies; [ErrNotFound] if there is none.
func (d *DB) Newest(ctx context.Context, verify BundleVerifier) (Bundle, error) {
	found, err := d.verified(ctx, verify, 1)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("bundle: %w", ErrNotFound)
	}
	if err != nil {
		return Bundle{}, err
	}
	return found[0], nil
}

// Bundles returns all bundles that verify, the newest first.
func (d *DB) Bundles(ctx context.Context, verify BundleVerifier) ([]Bundle, error) {
	return d.verified(ctx, verify, 0)
}

func (d *DB) verified(ctx context.Context, verify BundleVerifier, limit int) (out []Bundle, err error) {
	below := int64(1<<63 - 1)
	for {
		page, err := all(ctx, d, "bundles", readBundle, `SELECT serial, note, created FROM team.bundles
			WHERE tenant = $1 AND serial < $2 ORDER BY serial DESC LIMIT $3`, d.tenant, below, bundlePage)
		if err != nil {
			return nil, err
		}
		for _, b := range page {
			if serial, err := verify(b.Note); err == nil && serial == b.Serial {
				if out = append(out, b); len(out) == limit {
					return out, nil
				}
			}
			below = b.Serial
		}
		if len(page) < bundlePage {
			return out, nil
		}
	}
}

// Publish takes a bundle if it verifies and its serial is the next one. Rows that do not verify are not
// in its way. Publishing the newest bundle again changes nothing.
func (d *DB) Publish(ctx context.Context, note []byte, verify BundleVerifier) (serial int64, err error) {
	serial, err = verify(note)
	if err != nil {
		return 0, fmt.Errorf("publish a bundle: %w", err)
	}
	last, err := d.Newest(ctx, verify)
	switch {
	case errors.Is(err, ErrNotFound):
	case err != nil:
		return 0, err
	case last.Serial == serial && bytes.Equal(last.Note, note):
		return serial, nil
	}
	if serial != last.Serial+1 {
		return 0, fmt.Errorf("publish a bundle: %w: it is %d, and %d is the newest", ErrSerial, serial, last.Serial)
	}
	err = d.in(ctx, Changes{Bundle: true, Outbox: true}, func(tx pgx.Tx) error {
		// A row is in the way only if it does not verify, and then it gives way unless it was replaced since.
		var forged []byte
		err := tx.QueryRow(ctx, `SELECT note FROM team.bundles WHERE tenant = $1 AND serial = $2`, d.tenant, serial).Scan(&forged)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if was, err := verify(forged); forged != nil && err == nil && was == serial {
			return ErrSerial
		}
		tag, err := tx.Exec(ctx, `INSERT INTO team.bundles (tenant, serial, note) VALUES ($1, $2, $3)
			ON CONFLICT (tenant, serial) DO UPDATE SET note = excluded.note, created = now() WHERE team.bundles.note = $4`,
			d.tenant, serial, note, forged)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrSerial
		}
		if err != nil {
			return err
		}
		return announce(ctx, tx, d.tenant, Notice{Kind: NoticePublished, Subject: fmt.Sprint(serial)}, struct {
			Serial int64 `json:"serial"`
		}{serial})
	})
	if err != nil {
		return 0, fmt.Errorf("publish bundle %d: %w", serial, err)
	}
	return serial, nil
}
